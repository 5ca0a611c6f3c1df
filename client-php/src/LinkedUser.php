<?php

declare(strict_types=1);

namespace BuyerLinking;

/** The result of a link. */
final class LinkedUser
{
    /** @param bool $isNew false if the buyer was linked before */
    public function __construct(public readonly User $user, public readonly bool $isNew)
    {
    }
}
