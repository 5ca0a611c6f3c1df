<?php

declare(strict_types=1);

namespace BuyerLinking;

use Generator;
use InvalidArgumentException;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * A client of the Buyer Linking API. Each call throws a ProblemException for an error of the service, an
 * UnexpectedResponseException for a response that is not from the service, and the exception of the PSR-18 client if
 * there is no response.
 */
final class Client
{
    public const MAX_PAGE_SIZE = 100;

    private const KEY_VARIABLE = 'BUYER_LINKING_API_KEY';

    private readonly Transport $transport;

    /** Repeats a request until the service answers it. */
    private readonly Transport $patientTransport;

    /**
     * @param string      $baseUrl the address of the service, with its stage: https://api.example.com/prod
     * @param string|null $apiKey  default: the environment variable BUYER_LINKING_API_KEY
     *
     * @throws InvalidArgumentException if the base URL is neither https nor http on loopback, or if there is no API key
     */
    public function __construct(
        string $baseUrl,
        ClientInterface $http,
        RequestFactoryInterface $requests,
        StreamFactoryInterface $streams,
        #[\SensitiveParameter]
        ?string $apiKey = null,
        private readonly RetryPolicy $retries = new RetryPolicy(),
    ) {
        if (preg_match('~^https?://[^/?#]+~i', $baseUrl) !== 1) {
            throw new InvalidArgumentException(
                "baseUrl must be a URL with its scheme, such as https://api.example.com/prod, and not \"{$baseUrl}\"."
            );
        }
        if (!self::isEncryptedOrLocal($baseUrl)) {
            throw new InvalidArgumentException(
                "baseUrl must begin with https://, except on loopback, and not \"{$baseUrl}\"."
            );
        }
        $key = $apiKey ?? (string) getenv(self::KEY_VARIABLE);
        if ($key === '') {
            throw new InvalidArgumentException(
                'No API key: pass apiKey, or set the environment variable ' . self::KEY_VARIABLE . '.'
            );
        }
        $transportWith = static fn (RetryPolicy $limits): Transport =>
            new Transport(rtrim($baseUrl, '/'), $key, $http, $requests, $streams, $limits);
        $this->transport = $transportWith($retries);
        $this->patientTransport = $transportWith(
            new RetryPolicy(PHP_INT_MAX, PHP_INT_MAX, $retries->onWait, $retries->sleep)
        );
    }

    /**
     * Links a buyer. A repeated call with the same person returns the existing user.
     *
     * @param string|null $externalId  your own reference of the user
     * @param string|null $accessToken of the buyer's sign-in at your shop: links a buyer who ended an earlier link
     */
    public function linkBuyer(
        string $nationalId,
        string $birthDate,
        string $phone,
        string $displayName,
        ?string $externalId = null,
        #[\SensitiveParameter]
        ?string $accessToken = null,
    ): LinkedUser {
        $reply = $this->transport->send('POST', '/v1/users', body: [
            'national_id' => $nationalId,
            'birth_date' => $birthDate,
            'phone' => $phone,
            'display_name' => $displayName,
        ] + ($externalId === null ? [] : ['external_id' => $externalId]), accessToken: $accessToken);

        return new LinkedUser(User::fromArray($reply->data), $reply->status === 201);
    }

    /** Returns one of your users. Throws `user_not_found` if the id is unknown or the user was removed. */
    public function getUser(string $id): User
    {
        return User::fromArray($this->transport->send('GET', '/v1/users/{id}', self::byUserId($id))->data);
    }

    /**
     * Corrects a user. Throws `user_not_found`, and `external_id_conflict` if another of your users has the external
     * id.
     *
     * @param array{display_name?: string, external_id?: string|null} $changes at least one; null clears the external id
     */
    public function updateUser(string $id, array $changes): CorrectedUser
    {
        $reply = $this->transport->send('PATCH', '/v1/users/{id}', self::byUserId($id), body: $changes);

        return CorrectedUser::fromArray($reply->data);
    }

    /**
     * Checks a user again, also with another phone, and returns it as it is now. Throws `identity_mismatch` or
     * `phone_not_owned` after a verdict against the person: the user stays as it is.
     */
    public function checkUser(string $id, string $nationalId, string $birthDate, string $phone): User
    {
        $reply = $this->transport->send('POST', '/v1/users/{id}/checks', self::byUserId($id), body: [
            'national_id' => $nationalId,
            'birth_date' => $birthDate,
            'phone' => $phone,
        ]);

        return User::fromArray($reply->data);
    }

    /** Removes one of your users. A repeated call succeeds. Throws `user_not_found` if the id was never yours. */
    public function removeUser(string $id): void
    {
        $this->transport->send('DELETE', '/v1/users/{id}', self::byUserId($id));
    }

    /**
     * Returns your users with this phone, in the order of linking; none if there is no such user.
     *
     * @return list<User>
     */
    public function findByPhone(string $phone): array
    {
        $users = [];
        foreach ($this->everyPage(self::MAX_PAGE_SIZE, $phone) as $page) {
            array_push($users, ...$page->users);
        }

        return $users;
    }

    /** Returns your user with this external id, or null. */
    public function findByExternalId(string $externalId): ?User
    {
        $reply = $this->transport->send('GET', '/v1/users', query: ['external_id' => $externalId]);

        return UserPage::fromArray($reply->data)->users[0] ?? null;
    }

    /**
     * Returns users that were linked after one user.
     *
     * @param string $id       the id of that user, which may be removed
     * @param int    $pageSize how many users at most, 1 to 100
     */
    public function usersAfter(string $id, int $pageSize = self::MAX_PAGE_SIZE): UsersAfter
    {
        $query = ['after' => $id, 'page_size' => $pageSize];

        return UsersAfter::fromArray($this->transport->send('GET', '/v1/users', query: $query)->data);
    }

    /**
     * Returns one page of your users, in the order of linking.
     *
     * @param int         $page     from 1
     * @param int         $pageSize the number of users on a page, 1 to 100
     * @param string|null $phone    only the users with this phone
     */
    public function listUsers(int $page = 1, int $pageSize = 20, ?string $phone = null): UserPage
    {
        $query = ['page' => $page, 'page_size' => $pageSize] + ($phone === null ? [] : ['phone' => $phone]);

        return UserPage::fromArray($this->transport->send('GET', '/v1/users', query: $query)->data);
    }

    /**
     * Iterates over all pages, from the first. Every page but the last is full. A removal while you iterate moves the
     * later users up by one.
     *
     * @param int $pageSize the number of users on a page, 1 to 100
     *
     * @return Generator<int, UserPage>
     */
    public function pages(int $pageSize = self::MAX_PAGE_SIZE): Generator
    {
        return $this->everyPage($pageSize, null);
    }

    /**
     * Iterates over all your users, in the order of linking. Skips and repeats nobody, whatever is linked or removed
     * meanwhile.
     *
     * @return Generator<int, User>
     */
    public function users(): Generator
    {
        $position = 0;
        $page = $this->listUsers(1, self::MAX_PAGE_SIZE);
        while (true) {
            foreach ($page->users as $user) {
                yield $position++ => $user;
            }
            if ($page->nextAfter === null) {
                return;
            }
            $page = $this->usersAfter($page->nextAfter);
        }
    }

    /**
     * Returns one page of events: the changes of your users, oldest first. Throws `events_expired`.
     *
     * @param int|null $after the number of an event; null: from the oldest event that the service keeps
     * @param int      $limit the most events of the page, 1 to 100
     */
    public function listEvents(?int $after = null, int $limit = 100): EventPage
    {
        $query = ['limit' => $limit] + ($after === null ? [] : ['after' => $after]);

        return EventPage::fromArray($this->transport->send('GET', '/v1/events', query: $query)->data);
    }

    /**
     * Iterates over the events and waits for new ones. Store the `sequence` of an event with what you did for it, and
     * pass it as `$after` when you start again. It reads 1 s after events, and less often while there are none, down to
     * every 30 s. It repeats a read for as long as the service is unavailable or the rate limit is used up. Throws
     * `events_expired`.
     *
     * @param int|null $after  the number of the last event that you stored; null: from the oldest that is kept
     * @param bool     $follow false: ends after the newest event, for a program that is started again and again
     *
     * @return Generator<int, UserEvent>
     */
    public function events(?int $after = null, bool $follow = true): Generator
    {
        $read = fn (?int $after): EventPage => EventPage::fromArray($this->patientTransport->send(
            'GET',
            '/v1/events',
            query: $after === null ? [] : ['after' => $after],
        )->data);

        return EventReader::iterate($read, $this->retries->sleep, $after, $follow);
    }

    /**
     * Sends a one-time code by SMS. Retried only after `rate_limit_exceeded`: after any other error the SMS may have
     * been sent.
     *
     * @param 'fa'|'en' $locale the language of the message
     */
    public function sendCode(string $phone, string $locale = 'fa'): CodeSent
    {
        $body = ['phone' => $phone, 'locale' => $locale];
        $reply = $this->transport->send('POST', '/v1/auth/otp/send', body: $body);

        return CodeSent::fromArray($reply->data);
    }

    /**
     * Exchanges a code for an access token. Retried only after `rate_limit_exceeded`: after any other error the code
     * may be used.
     */
    public function verifyCode(string $phone, string $code): AccessToken
    {
        $body = ['phone' => $phone, 'code' => $code];
        $reply = $this->transport->send('POST', '/v1/auth/otp/verify', body: $body);

        return AccessToken::fromArray($reply->data);
    }

    /**
     * For the buyer app: returns the links of the signed-in buyer's phone with this person, the oldest first.
     *
     * @return list<BuyerLink>
     */
    public function findLinks(
        #[\SensitiveParameter]
        string $accessToken,
        string $nationalId,
        string $birthDate,
    ): array {
        $body = ['national_id' => $nationalId, 'birth_date' => $birthDate];
        $reply = $this->transport->send('POST', '/v1/buyer/links/find', body: $body, accessToken: $accessToken);

        return array_map(BuyerLink::fromArray(...), $reply->data['data']);
    }

    /** For the buyer app: ends a link of the signed-in buyer for good. A repeated call succeeds. */
    public function endLink(
        #[\SensitiveParameter]
        string $accessToken,
        string $id,
    ): void {
        if (preg_match('~^lnk_[\w-]{22}$~D', $id) !== 1) {
            throw new InvalidArgumentException('A link id is lnk_ and 22 characters.');
        }
        $this->transport->send('DELETE', '/v1/buyer/links/{id}', ['id' => $id], accessToken: $accessToken);
    }

    /** Returns the key that this client uses: its plan, scopes, secrets and the state of its limits. */
    public function key(): Key
    {
        return Key::fromArray($this->transport->send('GET', '/v1/key')->data);
    }

    /**
     * Returns what the key used.
     *
     * @param int $days the last days times 24 hours, 1 to 35
     */
    public function usage(int $days = 7): KeyUsage
    {
        return KeyUsage::fromArray($this->transport->send('GET', '/v1/key/usage', query: ['days' => $days])->data);
    }

    /**
     * Gives the key a new secret, which works beside the old one until that ends. This client goes on with the old one.
     * Retried only after `rate_limit_exceeded`. If the response was lost, call it again: a new secret that was never
     * used is replaced. Throws `too_many_secrets` if the new secret was used and the old one is still valid.
     *
     * @param int $graceHours how long the old secret stays valid, 1 to 720
     */
    public function rotateKey(int $graceHours = 24): NewSecret
    {
        $reply = $this->transport->send('POST', '/v1/key/secrets', body: ['grace_hours' => $graceHours]);

        return NewSecret::fromArray($reply->data);
    }

    /**
     * An id of another form could name another path.
     *
     * @return array{id: string}
     */
    private static function byUserId(string $id): array
    {
        if (preg_match('~^usr_[0-9A-Za-z]{22}$~D', $id) !== 1) {
            throw new InvalidArgumentException('A user id is usr_ and 22 letters and digits.');
        }

        return ['id' => $id];
    }

    /** Plain http would send the key and national ids unencrypted. */
    private static function isEncryptedOrLocal(string $baseUrl): bool
    {
        $host = (string) parse_url($baseUrl, PHP_URL_HOST);

        return stripos($baseUrl, 'https://') === 0
            || preg_match('~^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$~i', $host) === 1;
    }

    /** @return Generator<int, UserPage> */
    private function everyPage(int $pageSize, ?string $phone): Generator
    {
        for ($page = 1, $lastPage = 1; $page <= $lastPage; $page++) {
            $found = $this->listUsers($page, $pageSize, $phone);
            yield $found;
            $lastPage = $found->totalPages;
        }
    }
}
