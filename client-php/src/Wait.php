<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A wait before the next attempt. */
final class Wait
{
    /**
     * @param string|null $code  the code of the error response; null if there was none from the service
     * @param int         $retry the number of the next attempt among the retries, from 1
     */
    public function __construct(
        public readonly int $milliseconds,
        public readonly ?string $code,
        public readonly int $retry,
    ) {
    }
}
