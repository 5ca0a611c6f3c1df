<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A new secret of a key. It is shown only once. */
final class NewSecret
{
    /**
     * @param string $secret             the value of X-Api-Key
     * @param string $oldSecretExpiresAt when the old secret ends, UTC: `2026-11-22T08:30:00Z`
     */
    public function __construct(
        #[\SensitiveParameter]
        public readonly string $secret,
        public readonly string $lastFour,
        public readonly string $oldSecretExpiresAt,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self($data['secret'], $data['last_four'], $data['old_secret_expires_at']);
    }
}
