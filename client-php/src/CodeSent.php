<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A code that was sent. */
final class CodeSent
{
    /**
     * @param int $expiresIn   seconds for which the code is valid
     * @param int $resendAfter seconds until another code may be sent
     */
    public function __construct(public readonly int $expiresIn, public readonly int $resendAfter)
    {
    }

    /** @param array<string, int> $data */
    public static function fromArray(array $data): self
    {
        return new self($data['expires_in'], $data['resend_after']);
    }
}
