<?php

declare(strict_types=1);

namespace BuyerLinking;

use RuntimeException;

/** A response that is not from the service, for example the error page of a proxy. */
final class UnexpectedResponseException extends RuntimeException
{
    public function __construct(public readonly int $status)
    {
        parent::__construct("Status {$status}, with a body that is not from the service.", $status);
    }
}
