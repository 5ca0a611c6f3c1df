<?php

declare(strict_types=1);

namespace BuyerLinking\Tests;

use BuyerLinking\Client;
use BuyerLinking\RetryPolicy;
use BuyerLinking\Wait;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Response;
use LogicException;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use RuntimeException;

/** A service that returns these responses in order, and throws on any further request. */
final class FakeHttp implements ClientInterface
{
    public const USER = [
        'id' => 'usr_0000000000000000000001',
        'external_id' => null,
        'national_id' => '******0829',
        'birth_date' => '1370/1/15',
        'phone' => '+989121234567',
        'display_name' => 'سارا احمدی',
        'created_at' => '2026-11-21T08:30:00.000Z',
        'checked_at' => '2026-11-21T08:30:00.000Z',
    ];

    /** @var list<RequestInterface> */
    public array $sent = [];

    /** @var list<Wait> */
    public array $observed = [];

    /** @var list<int> */
    public array $slept = [];

    /** @var list<ResponseInterface|ClientExceptionInterface> */
    private readonly array $responses;

    public function __construct(ResponseInterface|ClientExceptionInterface ...$responses)
    {
        $this->responses = array_values($responses);
    }

    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        $this->sent[] = $request;
        $response = $this->responses[count($this->sent) - 1] ?? throw new LogicException('unexpected request');
        if ($response instanceof ClientExceptionInterface) {
            throw $response;
        }

        return $response;
    }

    /** A client of this service that does not sleep. */
    public function client(): Client
    {
        $factory = new HttpFactory();

        $retries = new RetryPolicy(
            onWait: function (Wait $wait): void {
                $this->observed[] = $wait;
            },
            sleep: function (int $milliseconds): void {
                $this->slept[] = $milliseconds;
            },
        );

        return new Client('https://api.example.com/dev', $this, $factory, $factory, 'blk_test_of_a_test', $retries);
    }

    /** @param array<string, mixed> $body */
    public static function json(int $status, array $body): Response
    {
        return new Response($status, ['Content-Type' => 'application/json'], (string) json_encode($body));
    }

    /** @param list<array<string, string>> $errors */
    public static function problem(int $status, string $code, ?int $retryAfter = null, array $errors = []): Response
    {
        $body = ['status' => $status, 'code' => $code, 'detail' => 'A text for people.', 'request_id' => 'req-1'];
        $response = self::json($status, $body + ($errors === [] ? [] : ['errors' => $errors]));

        return $retryAfter === null ? $response : $response->withHeader('Retry-After', (string) $retryAfter);
    }

    /** @param list<string> $ids */
    public static function page(int $page, array $ids, int $totalPages): Response
    {
        $users = array_map(static fn (string $id): array => ['id' => $id] + self::USER, $ids);

        return self::json(200, [
            'data' => $users,
            'page' => $page,
            'page_size' => 100,
            'total' => 3,
            'total_pages' => $totalPages,
            'next_after' => $page < $totalPages ? end($ids) : null,
        ]);
    }

    /** A connection that breaks. */
    public static function broken(): ClientExceptionInterface
    {
        return new class ('connection reset') extends RuntimeException implements ClientExceptionInterface {
        };
    }
}
