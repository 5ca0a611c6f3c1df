<?php

declare(strict_types=1);

namespace BuyerLinking;

/** One page of events. */
final class EventPage
{
    /**
     * @param list<UserEvent> $events
     * @param int             $lastSequence the number of your newest event; 0 if there never was one
     * @param bool            $hasMore      whether there are events after this page
     */
    public function __construct(
        public readonly array $events,
        public readonly int $lastSequence,
        public readonly bool $hasMore,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            array_map(UserEvent::fromArray(...), $data['data']),
            $data['last_sequence'],
            $data['has_more'],
        );
    }
}
