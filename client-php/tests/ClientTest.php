<?php

declare(strict_types=1);

namespace BuyerLinking\Tests;

use BuyerLinking\Client;
use BuyerLinking\FieldError;
use BuyerLinking\ProblemCode;
use BuyerLinking\ProblemException;
use BuyerLinking\UnexpectedResponseException;
use BuyerLinking\User;
use BuyerLinking\UserPage;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Response;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

final class ClientTest extends TestCase
{
    public function testSendsALinkToTheBaseUrlAndItsStageWithTheKeyAndAJsonBody(): void
    {
        $http = new FakeHttp(FakeHttp::json(201, FakeHttp::USER));
        $linked = $http->client()->linkBuyer('9999150829', '1370/1/15', '+989121234567', 'سارا احمدی');
        self::assertTrue($linked->isNew);
        self::assertSame('سارا احمدی', $linked->user->displayName);
        [$request] = $http->sent;
        self::assertSame('POST https://api.example.com/dev/v1/users', "{$request->getMethod()} {$request->getUri()}");
        self::assertSame('blk_test_of_a_test', $request->getHeaderLine('X-Api-Key'));
        self::assertSame(
            '{"national_id":"9999150829","birth_date":"1370/1/15","phone":"+989121234567","display_name":"سارا احمدی"}',
            (string) $request->getBody(),
        );
    }

    public function testStatesThatABuyerWasLinkedBefore(): void
    {
        $http = new FakeHttp(FakeHttp::json(200, FakeHttp::USER));
        self::assertFalse($http->client()->linkBuyer('9999150829', '1370/1/15', '+989121234567', 'Sara')->isNew);
    }

    public function testReadsPagesUpToTotalPages(): void
    {
        $pages = [FakeHttp::page(1, ['a', 'b'], 3), FakeHttp::page(2, ['c'], 3), FakeHttp::page(3, ['d'], 3)];
        $http = new FakeHttp(...$pages);
        $found = iterator_to_array($http->client()->pages());
        self::assertSame(['a', 'c', 'd'], array_map(static fn (UserPage $page): string => $page->users[0]->id, $found));
        self::assertSame('page=3&page_size=100', $http->sent[2]->getUri()->getQuery());
    }

    public function testReadsAllUsersByTheIdOfTheLastOne(): void
    {
        $hundred = array_map(static fn (int $number): string => "u$number", range(0, 99));
        $after = static fn (string $id, ?string $next): Response => FakeHttp::json(
            200,
            ['data' => [['id' => $id] + FakeHttp::USER], 'page_size' => 100, 'total' => 102, 'next_after' => $next],
        );
        $http = new FakeHttp(FakeHttp::page(1, $hundred, 3), $after('v', 'v'), $after('w', null));
        $users = iterator_to_array($http->client()->users());
        self::assertSame(
            [...$hundred, 'v', 'w'],
            array_map(static fn (User $user): string => $user->id, $users),
        );
        self::assertSame('after=u99&page_size=100', $http->sent[1]->getUri()->getQuery());
        self::assertSame('after=v&page_size=100', $http->sent[2]->getUri()->getQuery());
    }

    public function testRequestsNoPageBeforeItIsRead(): void
    {
        $http = new FakeHttp(FakeHttp::page(1, ['a'], 2));
        self::assertSame('a', $http->client()->users()->current()->id);
        self::assertCount(1, $http->sent);
    }

    public function testFindsByPhoneWithThePlusSignEncoded(): void
    {
        $http = new FakeHttp(FakeHttp::page(1, ['a'], 1));
        self::assertCount(1, $http->client()->findByPhone('+989121234567'));
        self::assertSame('page=1&page_size=100&phone=%2B989121234567', $http->sent[0]->getUri()->getQuery());
    }

    public function testRemovesAUserByADeleteWithoutBody(): void
    {
        $http = new FakeHttp(new Response(204));
        $http->client()->removeUser('usr_0000000000000000000001');
        self::assertSame('DELETE', $http->sent[0]->getMethod());
        self::assertSame('', (string) $http->sent[0]->getBody());
    }

    public function testSendsACodeInTheLanguageOfTheCaller(): void
    {
        $sent = new Response(202, [], '{"expires_in":300,"resend_after":60}');
        $http = new FakeHttp($sent, $sent);
        $http->client()->sendCode('0912');
        $http->client()->sendCode('0912', 'en');
        self::assertSame('{"phone":"0912","locale":"fa"}', (string) $http->sent[0]->getBody());
        self::assertSame('{"phone":"0912","locale":"en"}', (string) $http->sent[1]->getBody());
    }

    public function testThrowsAProblemWithItsCodeAndRetryAfter(): void
    {
        try {
            (new FakeHttp(FakeHttp::problem(429, ProblemCode::RESEND_TOO_SOON, 42)))->client()->sendCode('0912');
            self::fail('no exception');
        } catch (ProblemException $problem) {
            self::assertSame([ProblemCode::RESEND_TOO_SOON, 429, 42, 'req-1', []], [
                $problem->problemCode,
                $problem->status,
                $problem->retryAfterSeconds,
                $problem->requestId,
                $problem->errors,
            ]);
        }
    }

    public function testNamesEveryWrongFieldInTheMessageAndInErrors(): void
    {
        $errors = [
            ['pointer' => '#/phone', 'detail' => 'Is required.'],
            ['parameter' => 'page', 'detail' => 'Is not an integer.'],
        ];
        try {
            (new FakeHttp(FakeHttp::problem(422, 'validation_failed', null, $errors)))->client()->listUsers();
            self::fail('no exception');
        } catch (ProblemException $problem) {
            $message = 'validation_failed: #/phone: Is required. page: Is not an integer. (request req-1)';
            self::assertSame($message, $problem->getMessage());
            self::assertEquals(new FieldError('page', 'Is not an integer.'), $problem->errors[1]);
        }
    }

    public function testThrowsAnotherExceptionForTheErrorPageOfAProxy(): void
    {
        $this->expectException(UnexpectedResponseException::class);
        $this->expectExceptionMessage('403');
        (new FakeHttp(new Response(403, [], '<h1>Forbidden</h1>')))->client()->listUsers();
    }

    /** @dataProvider wrongBaseUrls */
    public function testRejectsABaseUrlWithoutScheme(string $baseUrl): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('baseUrl must be a URL with its scheme');
        new Client($baseUrl, new FakeHttp(), new HttpFactory(), new HttpFactory(), 'blk_test_x');
    }

    /** @return list<array{string}> */
    public static function wrongBaseUrls(): array
    {
        return [['localhost:3000'], ['api.example.com/prod'], ['//api.example.com'], ['ftp://api.example.com'], ['']];
    }

    /** @dataProvider unencryptedBaseUrls */
    public function testRejectsABaseUrlThatWouldSendTheKeyUnencrypted(string $baseUrl): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('baseUrl must begin with https://, except on loopback');
        new Client($baseUrl, new FakeHttp(), new HttpFactory(), new HttpFactory(), 'blk_test_x');
    }

    /** @return list<array{string}> */
    public static function unencryptedBaseUrls(): array
    {
        return [
            ['http://api.example.com'],
            ['HTTP://10.0.0.1/dev'],
            ['http://localhost.example.com'],
            ['http://localhost@example.com'],
        ];
    }

    /** @dataProvider localBaseUrls */
    public function testAcceptsHttpOnLoopback(string $baseUrl): void
    {
        $http = new FakeHttp(FakeHttp::json(200, FakeHttp::USER));
        $client = new Client($baseUrl, $http, new HttpFactory(), new HttpFactory(), 'blk_test_x');
        self::assertSame('usr_0000000000000000000001', $client->getUser('usr_0000000000000000000001')->id);
    }

    /** @return list<array{string}> */
    public static function localBaseUrls(): array
    {
        return [['http://localhost:3000'], ['http://127.0.0.1:3000'], ['http://[::1]:3000/dev']];
    }

    public function testThrowsForARedirectAndDoesNotRepeatTheRequest(): void
    {
        $http = new FakeHttp(new Response(307, ['Location' => 'https://other.example.com/v1/users']));
        try {
            $http->client()->linkBuyer('9999150829', '1370/1/15', '+989121234567', 'Sara');
            self::fail('no exception');
        } catch (UnexpectedResponseException $unexpected) {
            self::assertStringContainsString('307', $unexpected->getMessage());
            self::assertCount(1, $http->sent);
        }
    }

    public function testRefusesAnIdThatCouldNameAnotherPathBeforeARequest(): void
    {
        $http = new FakeHttp();
        $client = $http->client();
        $calls = [
            static fn () => $client->getUser('.'),
            static fn () => $client->getUser("usr_0000000000000000000001\n"),
            static fn () => $client->removeUser('usr_1/../x?y'),
            static fn () => $client->updateUser('', ['display_name' => 'Sara']),
            static fn () => $client->checkUser('..', '9990777772', '1370/1/15', '+989559990001'),
            static fn () => $client->endLink('token', '..'),
        ];
        $refused = 0;
        foreach ($calls as $call) {
            try {
                $call();
            } catch (InvalidArgumentException) {
                $refused++;
            }
        }
        self::assertSame([count($calls), []], [$refused, $http->sent]);
    }

    public function testShowsAndEndsTheLinksOfABuyerByTheAccessToken(): void
    {
        $link = [
            'id' => 'lnk_2Yh0c9QmVnTqk3bJx1LwZA',
            'seller' => ['id' => 'sel_1', 'name' => 'Kaveh Books'],
            'display_name' => 'Sara Ahmadi',
            'linked_at' => '2026-11-21T08:30:00.000Z',
        ];
        $http = new FakeHttp(FakeHttp::json(200, ['data' => [$link]]), new Response(204));
        [$found] = $http->client()->findLinks('a.b.c', '9999150829', '1370/1/15');
        self::assertSame(['Kaveh Books', 'Sara Ahmadi'], [$found->sellerName, $found->displayName]);
        $http->client()->endLink('a.b.c', $found->id);
        self::assertSame(
            ['Bearer a.b.c', 'Bearer a.b.c'],
            array_map(static fn ($request) => $request->getHeaderLine('Authorization'), $http->sent),
        );
        self::assertSame('/dev/v1/buyer/links/lnk_2Yh0c9QmVnTqk3bJx1LwZA', $http->sent[1]->getUri()->getPath());
    }

    public function testRequiresAnApiKey(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('BUYER_LINKING_API_KEY');
        new Client('https://api.example.com', new FakeHttp(), new HttpFactory(), new HttpFactory(), '');
    }
}
