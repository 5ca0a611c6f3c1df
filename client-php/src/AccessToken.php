<?php

declare(strict_types=1);

namespace BuyerLinking;

/** An access token. */
final class AccessToken
{
    /** @param int $expiresIn seconds for which the token is valid */
    public function __construct(
        #[\SensitiveParameter]
        public readonly string $accessToken,
        public readonly string $tokenType,
        public readonly int $expiresIn,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self($data['access_token'], $data['token_type'], $data['expires_in']);
    }
}
