<?php

declare(strict_types=1);

namespace BuyerLinking\Tests;

use BuyerLinking\Client;
use BuyerLinking\ProblemCode;
use BuyerLinking\ProblemException;
use BuyerLinking\User;
use BuyerLinking\UserEvent;
use GuzzleHttp\Client as Guzzle;
use GuzzleHttp\Psr7\HttpFactory;
use PHPUnit\Framework\TestCase;

/** The client against a running service: `test/client-php` starts one and sets the environment variables. */
final class ServiceTest extends TestCase
{
    private const PHONE = '+989990950001';

    private string $baseUrl;

    protected function setUp(): void
    {
        $this->baseUrl = (string) getenv('BUYER_LINKING_URL');
        if ($this->baseUrl === '') {
            self::markTestSkipped('BUYER_LINKING_URL is not set.');
        }
    }

    private function client(string $keyVariable): Client
    {
        $factory = new HttpFactory();
        $http = new Guzzle(['timeout' => 30, 'allow_redirects' => false]);

        return new Client($this->baseUrl, $http, $factory, $factory, (string) getenv($keyVariable));
    }

    /** @param callable(): mixed $call */
    private static function problemOf(callable $call): ProblemException
    {
        try {
            $call();
        } catch (ProblemException $problem) {
            return $problem;
        }
        self::fail('no problem was thrown');
    }

    public function testSignsABuyerInLinksFindsReadsAndRemovesTheUser(): void
    {
        $seller = $this->client('BUYER_LINKING_API_KEY');
        $person = ['9990777772', '1370/1/15', self::PHONE, 'سارا احمدی'];
        $unknown = self::problemOf(static fn () => $seller->linkBuyer(...$person));
        self::assertSame(ProblemCode::BUYER_NOT_REGISTERED, $unknown->problemCode);

        $app = $this->client('BUYER_APP_KEY');
        self::assertSame(60, $app->sendCode(self::PHONE)->resendAfter);
        $tooSoon = self::problemOf(static fn () => $app->sendCode(self::PHONE));
        self::assertSame(ProblemCode::RESEND_TOO_SOON, $tooSoon->problemCode);
        self::assertGreaterThan(0, $tooSoon->retryAfterSeconds);
        self::assertSame('Bearer', $app->verifyCode(self::PHONE, substr(self::PHONE, -6))->tokenType);

        $linked = $seller->linkBuyer(...[...$person, 'order:php-1']);
        self::assertSame('order:php-1', $linked->user->externalId);
        self::assertEquals($linked->user, $seller->findByExternalId('order:php-1'));
        $again = $seller->linkBuyer(...$person);
        self::assertSame([true, false], [$linked->isNew, $again->isNew]);
        self::assertEquals($linked->user, $again->user);
        self::assertEquals($linked->user, $seller->getUser($linked->user->id));
        self::assertEquals([$linked->user], $seller->findByPhone(self::PHONE));
        $idOf = static fn (User $user): string => $user->id;
        self::assertContains($linked->user->id, array_map($idOf, iterator_to_array($seller->users())));

        $changes = ['display_name' => 'سارا رضایی', 'external_id' => null];
        $corrected = $seller->updateUser($linked->user->id, $changes);
        self::assertSame(['سارا رضایی', null], [$corrected->displayName, $corrected->externalId]);
        $now = $seller->getUser($linked->user->id);
        self::assertSame([$corrected->id, $corrected->displayName], [$now->id, $now->displayName]);

        $checked = $seller->checkUser($linked->user->id, ...array_slice($person, 0, 3));
        self::assertEquals($now, $checked);

        $seller->removeUser($linked->user->id);
        $seller->removeUser($linked->user->id);
        self::assertSame([], $seller->findByPhone(self::PHONE));
        self::assertNull($seller->findByExternalId('order:php-1'));
        $removed = self::problemOf(static fn () => $seller->getUser($linked->user->id));
        self::assertSame(ProblemCode::USER_NOT_FOUND, $removed->problemCode);
    }

    public function testReadsItsKeyAndItsUseAndRotatesIt(): void
    {
        $old = $this->client('ROTATING_KEY');
        $key = $old->key();
        self::assertSame(['professional', ['users:read', 'key:rotate']], [$key->plan, $key->scopes]);
        self::assertSame(['professional', 1000], [$key->limits[0]['name'], $key->limits[0]['maximum']]);
        self::assertGreaterThan(0, array_sum(array_column($old->usage(1)->hours, 'requests')));

        $secret = $old->rotateKey(1);
        putenv("NEW_SECRET={$secret->secret}");
        $new = $this->client('NEW_SECRET')->key();
        self::assertSame([$key->id, $secret->lastFour], [$new->id, $new->lastFour]);
        self::assertSame([null, $secret->oldSecretExpiresAt], array_column($new->secrets, 'expires_at'));
        $again = self::problemOf(static fn () => $old->rotateKey());
        self::assertSame(ProblemCode::TOO_MANY_SECRETS, $again->problemCode);
    }

    public function testReadsTheEventsAfterANumber(): void
    {
        $seller = $this->client('EVENTS_KEY');
        $app = $this->client('BUYER_APP_KEY');
        $phone = '+989990950002';
        $last = $seller->listEvents(limit: 1)->lastSequence;
        $app->sendCode($phone);
        $app->verifyCode($phone, substr($phone, -6));
        $id = $seller->linkBuyer('9990777764', '1370/1/15', $phone, 'Sara Ahmadi')->user->id;
        $seller->removeUser($id);

        $page = $seller->listEvents($last);
        $shown = array_map(static fn (UserEvent $event): array => [
            $event->sequence,
            $event->type,
            $event->userId,
            $event->reason,
        ], $page->events);
        $expected = [[$last + 1, 'user.linked', $id, null], [$last + 2, 'user.removed', $id, 'seller']];
        self::assertSame([$expected, $last + 2, false], [$shown, $page->lastSequence, $page->hasMore]);

        $first = $seller->listEvents($last, 1);
        self::assertEquals([[$page->events[0]], true], [$first->events, $first->hasMore]);
        $expired = self::problemOf(static fn () => $seller->listEvents($last + 3));
        self::assertSame([ProblemCode::EVENTS_EXPIRED, 410], [$expired->problemCode, $expired->status]);
    }

    public function testNamesTheWrongFieldsOfALink(): void
    {
        $seller = $this->client('BUYER_LINKING_API_KEY');
        $invalid = self::problemOf(static fn () => $seller->linkBuyer('1', '1370/1/15', '0912', 'Sara Ahmadi'));
        self::assertSame(ProblemCode::VALIDATION_FAILED, $invalid->problemCode);
        self::assertSame(['#/national_id', '#/phone'], array_column($invalid->errors, 'field'));
    }
}
