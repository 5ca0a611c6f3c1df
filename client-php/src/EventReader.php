<?php

declare(strict_types=1);

namespace BuyerLinking;

use Closure;
use Generator;

/**
 * Iterates over the pages of events.
 *
 * @internal
 */
final class EventReader
{
    /** The wait after a page that has events, and the longest wait while there are none. */
    private const MIN_INTERVAL_MS = 1000;
    private const MAX_INTERVAL_MS = 30_000;

    /**
     * @param Closure(int|null): EventPage $read  reads the page after a number
     * @param Closure(int): void           $sleep waits for milliseconds
     *
     * @return Generator<int, UserEvent>
     */
    public static function iterate(Closure $read, Closure $sleep, ?int $after, bool $follow): Generator
    {
        $position = 0;
        $interval = self::MIN_INTERVAL_MS;
        while (true) {
            $page = $read($after);
            foreach ($page->events as $event) {
                // Only an event moves the place: lastSequence may be newer than the page.
                $after = $event->sequence;
                yield $position++ => $event;
            }
            if ($page->hasMore && $page->events !== []) {
                continue;
            }
            if (!$follow) {
                return;
            }
            $interval = $page->events === [] ? $interval : self::MIN_INTERVAL_MS;
            $sleep($interval);
            $interval = min(2 * $interval, self::MAX_INTERVAL_MS);
        }
    }
}
