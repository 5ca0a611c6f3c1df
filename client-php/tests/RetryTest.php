<?php

declare(strict_types=1);

namespace BuyerLinking\Tests;

use BuyerLinking\ProblemException;
use BuyerLinking\Wait;
use PHPUnit\Framework\TestCase;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Message\ResponseInterface;

final class RetryTest extends TestCase
{
    /** @dataProvider failures */
    public function testRepeatsALinkWithTheSameBody(ResponseInterface|ClientExceptionInterface $failure): void
    {
        $http = new FakeHttp($failure, FakeHttp::json(201, FakeHttp::USER));
        $http->client()->linkBuyer('9999150829', '1370/1/15', '+989121234567', 'Sara Ahmadi');
        self::assertSame((string) $http->sent[0]->getBody(), (string) $http->sent[1]->getBody());
    }

    /** @return array<string, array{ResponseInterface|ClientExceptionInterface}> */
    public static function failures(): array
    {
        return [
            'after a network error' => [FakeHttp::broken()],
            'after a gateway timeout' => [FakeHttp::json(504, [])],
            'after an unavailable registry' => [FakeHttp::problem(503, 'verification_unavailable', 1)],
            'after an internal error' => [FakeHttp::problem(500, 'internal')],
            'after an exceeded rate limit' => [FakeHttp::problem(429, 'rate_limit_exceeded', 2)],
        ];
    }

    public function testWaitsForRetryAfterAndReportsEachWait(): void
    {
        $limited = FakeHttp::problem(429, 'rate_limit_exceeded', 7);
        $http = new FakeHttp($limited, FakeHttp::broken(), FakeHttp::json(200, FakeHttp::USER));
        $http->client()->getUser('usr_0000000000000000000001');
        self::assertEquals(new Wait(7000, 'rate_limit_exceeded', 1), $http->observed[0]);
        self::assertSame([null, 2], [$http->observed[1]->code, $http->observed[1]->retry]);
        self::assertLessThanOrEqual(500, $http->observed[1]->milliseconds);
        $reported = array_map(static fn (Wait $wait): int => $wait->milliseconds, $http->observed);
        self::assertSame($http->slept, $reported);
    }

    public function testThrowsTheErrorOfTheFourthAttempt(): void
    {
        $http = new FakeHttp(FakeHttp::broken(), FakeHttp::broken(), FakeHttp::broken(), FakeHttp::broken());
        try {
            $http->client()->listUsers();
            self::fail('no exception');
        } catch (ClientExceptionInterface) {
            self::assertCount(4, $http->sent);
        }
    }

    public function testThrowsAtOnceIfRetryAfterIsLongerThanTheLongestWait(): void
    {
        $http = new FakeHttp(FakeHttp::problem(429, 'rate_limit_exceeded', 3600));
        try {
            $http->client()->listUsers();
            self::fail('no exception');
        } catch (ProblemException $problem) {
            self::assertSame([3600, []], [$problem->retryAfterSeconds, $http->slept]);
        }
    }

    /** @dataProvider unsafeFailures */
    public function testNeverSendsACodeTwice(ResponseInterface|ClientExceptionInterface $failure): void
    {
        $sending = new FakeHttp($failure);
        $using = new FakeHttp($failure);
        $thrown = 0;
        foreach (
            [
                static fn () => $sending->client()->sendCode('+989121234567'),
                static fn () => $using->client()->verifyCode('+989121234567', '123456'),
            ] as $call
        ) {
            try {
                $call();
            } catch (ProblemException | ClientExceptionInterface) {
                $thrown++;
            }
        }
        self::assertSame([2, 1, 1], [$thrown, count($sending->sent), count($using->sent)]);
    }

    /** @return array<string, array{ResponseInterface|ClientExceptionInterface}> */
    public static function unsafeFailures(): array
    {
        return [
            'after a network error' => [FakeHttp::broken()],
            'after an unavailable SMS provider' => [FakeHttp::problem(503, 'sms_unavailable', 1)],
            'after an internal error' => [FakeHttp::problem(500, 'internal')],
            'after a cool-down' => [FakeHttp::problem(429, 'resend_too_soon', 1)],
        ];
    }

    public function testSendsACodeAgainAfterAnExceededRateLimit(): void
    {
        $http = new FakeHttp(
            FakeHttp::problem(429, 'rate_limit_exceeded', 3),
            FakeHttp::json(202, ['expires_in' => 300, 'resend_after' => 60]),
        );
        self::assertSame(300, $http->client()->sendCode('+989121234567')->expiresIn);
        self::assertSame([3000], $http->slept);
    }
}
