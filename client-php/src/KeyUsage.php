<?php

declare(strict_types=1);

namespace BuyerLinking;

/** What a key used: hours and days in which anything was counted, oldest first. */
final class KeyUsage
{
    /**
     * @param list<array<string, int|string>> $hours each with hour (UTC), requests, refused_links, failed_checks, sms
     *                                               and failed_verifies
     * @param list<array{day: string, count: int}> $paidChecks by day (UTC)
     */
    public function __construct(
        public readonly array $hours,
        public readonly array $paidChecks,
    ) {
    }

    /** @param array<string, mixed> $data */
    public static function fromArray(array $data): self
    {
        return new self($data['data'], $data['paid_checks']);
    }
}
