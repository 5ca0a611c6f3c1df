<?php

declare(strict_types=1);

namespace BuyerLinking;

/** One page of users. */
final class UserPage
{
    /**
     * @param list<User>  $users
     * @param int         $pageSize   how many users a page holds
     * @param int         $total      how many users all pages hold
     * @param int         $totalPages the number of pages
     * @param string|null $nextAfter  goes on with the users after these; null after the last user
     */
    public function __construct(
        public readonly array $users,
        public readonly int $page,
        public readonly int $pageSize,
        public readonly int $total,
        public readonly int $totalPages,
        public readonly ?string $nextAfter,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            array_map(User::fromArray(...), $data['data']),
            $data['page'],
            $data['page_size'],
            $data['total'],
            $data['total_pages'],
            $data['next_after'],
        );
    }
}
