<?php

declare(strict_types=1);

namespace BuyerLinking;

/** An API key: what it may do, and the state of its limits. */
final class Key
{
    /**
     * @param list<string> $scopes
     * @param string|null  $expiresAt UTC; null: never
     * @param string       $lastFour  of the newest secret
     * @param list<array{last_four: string, expires_at: string|null}> $secrets the valid ones, newest first
     * @param list<array{name: string, maximum: int, remaining: int, resets_in: int}> $limits the plan's first
     */
    public function __construct(
        public readonly string $id,
        public readonly string $name,
        public readonly string $sellerId,
        public readonly string $sellerName,
        public readonly string $plan,
        public readonly array $scopes,
        public readonly ?string $expiresAt,
        public readonly string $lastFour,
        public readonly array $secrets,
        public readonly array $limits,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            $data['id'],
            $data['name'],
            $data['seller']['id'],
            $data['seller']['name'],
            $data['plan'],
            $data['scopes'],
            $data['expires_at'],
            $data['last_four'],
            $data['secrets'],
            $data['limits'],
        );
    }
}
