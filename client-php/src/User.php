<?php

declare(strict_types=1);

namespace BuyerLinking;

/** A linked user. */
final class User
{
    /**
     * @param string|null $externalId your own reference
     * @param string $nationalId only the last four digits are known: `******0829`
     * @param string $birthDate  in the calendar in which it was sent: `1370/1/15`
     * @param string $phone      in E.164: `+989121234567`
     * @param string $createdAt  the time of the link, UTC: `2026-11-21T08:30:00.000Z`
     * @param string $checkedAt  when the registries last confirmed the person and the phone, UTC
     */
    public function __construct(
        public readonly string $id,
        public readonly ?string $externalId,
        public readonly string $nationalId,
        public readonly string $birthDate,
        public readonly string $phone,
        public readonly string $displayName,
        public readonly string $createdAt,
        public readonly string $checkedAt,
    ) {
    }

    /** @param array<string, string|null> $data */
    public static function fromArray(array $data): self
    {
        return new self(
            $data['id'],
            $data['external_id'],
            $data['national_id'],
            $data['birth_date'],
            $data['phone'],
            $data['display_name'],
            $data['created_at'],
            $data['checked_at'],
        );
    }
}
