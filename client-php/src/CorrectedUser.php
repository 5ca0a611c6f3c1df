<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A user as a correction returns it: without the data that only `users:read` shows. Its members are those of User. */
final class CorrectedUser
{
    public function __construct(
        public readonly string $id,
        public readonly ?string $externalId,
        public readonly string $displayName,
        public readonly string $createdAt,
        public readonly string $checkedAt,
    ) {
    }

    /** @param array<string, string|null> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            $data['id'],
            $data['external_id'],
            $data['display_name'],
            $data['created_at'],
            $data['checked_at'],
        );
    }
}
