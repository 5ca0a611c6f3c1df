<?php

declare(strict_types=1);

namespace BuyerLinking;

use Closure;

/** The limits of retries. */
final class RetryPolicy
{
    /** @var Closure(Wait): void */
    public readonly Closure $onWait;

    /** @var Closure(int): void */
    public readonly Closure $sleep;

    /**
     * @param int                        $maxRetries     attempts after the first one
     * @param int                        $maxWaitSeconds a response with a longer Retry-After is thrown at once
     * @param (Closure(Wait): void)|null $onWait         called before each wait, for example to log it
     * @param (Closure(int): void)|null  $sleep          waits for milliseconds; tests replace it
     */
    public function __construct(
        public readonly int $maxRetries = 3,
        public readonly int $maxWaitSeconds = 60,
        ?Closure $onWait = null,
        ?Closure $sleep = null,
    ) {
        $this->onWait = $onWait ?? static function (Wait $wait): void {
        };
        $this->sleep = $sleep ?? static function (int $milliseconds): void {
            usleep($milliseconds * 1000);
        };
    }
}
