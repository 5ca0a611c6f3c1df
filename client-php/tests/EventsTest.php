<?php

declare(strict_types=1);

namespace BuyerLinking\Tests;

use BuyerLinking\ProblemException;
use PHPUnit\Framework\TestCase;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Message\ResponseInterface;

final class EventsTest extends TestCase
{
    /** @param list<int> $sequences */
    private static function page(array $sequences, bool $hasMore = false): ResponseInterface
    {
        $eventOf = static fn (int $sequence): array => [
            'sequence' => $sequence,
            'type' => 'user.removed',
            'occurred_at' => '2026-11-21T08:30:00.000Z',
            'data' => ['user_id' => "usr_{$sequence}", 'reason' => 'erasure'],
        ];
        $data = array_map($eventOf, $sequences);

        return FakeHttp::json(200, ['data' => $data, 'last_sequence' => 9, 'has_more' => $hasMore]);
    }

    /** @return list<int> the numbers of the first so many events */
    private static function follow(FakeHttp $http, int $count, ?int $after = null): array
    {
        $seen = [];
        foreach ($http->client()->events($after) as $event) {
            $seen[] = $event->sequence;
            if (count($seen) === $count) {
                break;
            }
        }

        return $seen;
    }

    /** @return list<string> */
    private static function queries(FakeHttp $http): array
    {
        return array_map(static fn ($request): string => $request->getUri()->getQuery(), $http->sent);
    }

    public function testReadsEachPageAfterTheNumberOfTheLastEvent(): void
    {
        $http = new FakeHttp(self::page([3, 4], true), self::page([5], true), self::page([6]));
        self::assertSame([3, 4, 5, 6], self::follow($http, 4));
        self::assertSame([['', 'after=4', 'after=5'], []], [self::queries($http), $http->slept]);
    }

    public function testReadsLessOftenWhileThereAreNoEvents(): void
    {
        $empty = array_map(static fn (): ResponseInterface => self::page([]), range(1, 6));
        $http = new FakeHttp(self::page([1]), ...[...$empty, self::page([2]), self::page([3])]);
        self::assertSame([1, 2, 3], self::follow($http, 3, 0));
        self::assertSame([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000], $http->slept);
    }

    public function testEndsAfterTheNewestEventIfItDoesNotFollow(): void
    {
        $http = new FakeHttp(self::page([1], true), self::page([2]));
        $events = iterator_to_array($http->client()->events(0, follow: false));
        self::assertSame(['usr_1', 'usr_2'], array_column($events, 'userId'));
        self::assertSame(['user.removed', 'erasure'], [$events[0]->type, $events[0]->reason]);
        self::assertSame([], $http->slept);
    }

    /** @dataProvider failures */
    public function testSurvivesMoreFailuresInARowThanACallRetries(
        ResponseInterface|ClientExceptionInterface $failure,
    ): void {
        $http = new FakeHttp(self::page([1]), ...[...array_fill(0, 80, $failure), self::page([2])]);
        self::assertSame([1, 2], self::follow($http, 2));
        self::assertCount(80, $http->observed);
        self::assertSame('after=1', self::queries($http)[81]);
    }

    /** @return array<string, array{ResponseInterface|ClientExceptionInterface}> */
    public static function failures(): array
    {
        return [
            'an exceeded rate limit' => [FakeHttp::problem(429, 'rate_limit_exceeded', 70)],
            'an unavailable service' => [FakeHttp::problem(503, 'service_unavailable', 70)],
            'a lost connection' => [FakeHttp::broken()],
        ];
    }

    public function testThrowsWhenTheNextEventsAreNoLongerKept(): void
    {
        $this->expectException(ProblemException::class);
        $this->expectExceptionMessage('events_expired');
        self::follow(new FakeHttp(FakeHttp::problem(410, 'events_expired')), 1, 17);
    }
}
