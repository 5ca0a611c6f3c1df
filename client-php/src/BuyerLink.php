<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A link of a buyer with a seller, as the buyer app shows it. */
final class BuyerLink
{
    /**
     * @param string $id          stays the same when the seller removes the user and links it again
     * @param string $displayName the name under which the seller linked the buyer
     * @param string $linkedAt    UTC: `2026-11-21T08:30:00.000Z`
     */
    public function __construct(
        public readonly string $id,
        public readonly string $sellerId,
        public readonly string $sellerName,
        public readonly string $displayName,
        public readonly string $linkedAt,
    ) {
    }

    /** @param array{id: string, seller: array{id: string, name: string}, display_name: string, linked_at: string} $data */
    public static function fromArray(array $data): self
    {
        $seller = $data['seller'];

        return new self($data['id'], $seller['id'], $seller['name'], $data['display_name'], $data['linked_at']);
    }
}
