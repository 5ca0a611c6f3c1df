<?php

declare(strict_types=1);

namespace BuyerLinking;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Sends requests, and repeats them where that is safe and can help.
 *
 * @internal
 */
final class Transport
{
    /**
     * The operations that may not be sent twice: after a timeout it is unknown whether the SMS was sent, the code was
     * used or the secret was made. A test compares the list with the service.
     */
    private const NOT_REPEATABLE = ['POST /v1/key/secrets', 'POST /v1/auth/otp/send', 'POST /v1/auth/otp/verify'];
    private const RETRYABLE_STATUSES = [429, 500, 502, 503, 504];
    private const FIRST_BACKOFF_MS = 250;
    private const MAX_BACKOFF_MS = 8000;

    public function __construct(
        private readonly string $baseUrl,
        #[\SensitiveParameter]
        private readonly string $apiKey,
        private readonly ClientInterface $http,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        private readonly RetryPolicy $retries,
    ) {
    }

    /**
     * @param string                     $path       as in the reference: /v1/users/{id}
     * @param array<string, string>      $parameters the values of the path's parameters
     * @param array<string, int|string>  $query
     * @param array<string, int|string|null>|null $body
     * @param string|null                $accessToken of a buyer
     *
     * @throws ClientExceptionInterface|ProblemException|UnexpectedResponseException
     */
    public function send(
        string $method,
        string $path,
        array $parameters = [],
        array $query = [],
        ?array $body = null,
        #[\SensitiveParameter]
        ?string $accessToken = null,
    ): Reply {
        $isRepeatable = !in_array("{$method} {$path}", self::NOT_REPEATABLE, true);
        $url = $this->baseUrl . self::filled($path, $parameters);
        $url .= $query === [] ? '' : '?' . http_build_query($query);
        for ($retry = 0; true; $retry++) {
            $reply = null;
            try {
                $reply = self::replyFrom($this->http->sendRequest($this->request($method, $url, $body, $accessToken)));
                if ($reply->isSuccess()) {
                    return $reply;
                }
                $failure = $reply->toException();
            } catch (ClientExceptionInterface $failure) {
                // No response: whether the service received the request is unknown.
            }
            $wait = $this->waitAfter($reply, $isRepeatable, $retry) ?? throw $failure;
            ($this->retries->onWait)($wait);
            ($this->retries->sleep)($wait->milliseconds);
        }
    }

    /** @param array<string, string> $parameters */
    private static function filled(string $path, array $parameters): string
    {
        foreach ($parameters as $name => $value) {
            $path = str_replace("{{$name}}", rawurlencode($value), $path);
        }

        return $path;
    }

    /** @param array<string, int|string|null>|null $body */
    private function request(string $method, string $url, ?array $body, ?string $accessToken): RequestInterface
    {
        $request = $this->requests->createRequest($method, $url)->withHeader('X-Api-Key', $this->apiKey);
        if ($accessToken !== null) {
            $request = $request->withHeader('Authorization', "Bearer {$accessToken}");
        }
        if ($body === null) {
            return $request;
        }
        $json = json_encode($body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);

        return $request->withHeader('Content-Type', 'application/json')
            ->withBody($this->streams->createStream($json));
    }

    private static function replyFrom(ResponseInterface $response): Reply
    {
        $data = json_decode((string) $response->getBody(), true);
        $retryAfter = $response->getHeaderLine('Retry-After');

        return new Reply(
            $response->getStatusCode(),
            is_array($data) ? $data : [],
            ctype_digit($retryAfter) ? (int) $retryAfter : null,
        );
    }

    /** Returns the wait before the next attempt; null if there is none. `$retry` counts the retries so far. */
    private function waitAfter(?Reply $reply, bool $isRepeatable, int $retry): ?Wait
    {
        if ($retry >= $this->retries->maxRetries || !self::isRetryable($reply, $isRepeatable)) {
            return null;
        }
        $seconds = $reply?->retryAfterSeconds;
        if ($seconds !== null && $seconds > $this->retries->maxWaitSeconds) {
            return null;
        }
        // Full jitter: a random time up to a bound that doubles with each retry.
        $bound = min(self::MAX_BACKOFF_MS, self::FIRST_BACKOFF_MS * 2 ** $retry);

        return new Wait($seconds === null ? random_int(0, $bound) : $seconds * 1000, $reply?->code(), $retry + 1);
    }

    /** A rate limit rejects a request before it changes anything, so such a request may always be repeated. */
    private static function isRetryable(?Reply $reply, bool $isRepeatable): bool
    {
        if (!$isRepeatable) {
            return $reply?->code() === ProblemCode::RATE_LIMIT_EXCEEDED;
        }

        return $reply === null || in_array($reply->status, self::RETRYABLE_STATUSES, true);
    }
}
