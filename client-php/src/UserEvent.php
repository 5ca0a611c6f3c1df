<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A change of one of your users. */
final class UserEvent
{
    /**
     * @param int         $sequence   its number: store it, and go on after it
     * @param string      $type       `user.linked`, `user.updated` or `user.removed`
     * @param string      $occurredAt ISO 8601, UTC
     * @param string|null $reason     of a removal: `seller`, `operator` or `erasure`; of a link: `restore`
     */
    public function __construct(
        public readonly int $sequence,
        public readonly string $type,
        public readonly string $occurredAt,
        public readonly string $userId,
        public readonly ?string $reason,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            $data['sequence'],
            $data['type'],
            $data['occurred_at'],
            $data['data']['user_id'],
            $data['data']['reason'] ?? null,
        );
    }
}
