<?php

declare(strict_types=1);

namespace BuyerLinking;

/** The users after one user. */
final class UsersAfter
{
    /**
     * @param list<User>  $users
     * @param int         $total     how many users there are
     * @param string|null $nextAfter goes on with the users after these; null if there are none
     */
    public function __construct(
        public readonly array $users,
        public readonly int $total,
        public readonly ?string $nextAfter,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self(array_map(User::fromArray(...), $data['data']), $data['total'], $data['next_after']);
    }
}
