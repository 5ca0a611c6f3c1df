<?php

declare(strict_types=1);

namespace BuyerLinking;

use RuntimeException;

/**
 * A response of the service, or of a proxy before it.
 *
 * @internal
 */
final class Reply
{
    /** @param array<string, mixed> $data */
    public function __construct(
        public readonly int $status,
        public readonly array $data,
        public readonly ?int $retryAfterSeconds,
    ) {
    }

    /** A success has a JSON object; only a 204 has no body. */
    public function isSuccess(): bool
    {
        return $this->status === 204 || ($this->status >= 200 && $this->status < 300 && $this->data !== []);
    }

    /** The problem code; null if the response is not a problem of the service. */
    public function code(): ?string
    {
        $isProblem = is_string($this->data['code'] ?? null) && is_string($this->data['request_id'] ?? null);

        return $isProblem ? $this->data['code'] : null;
    }

    public function toException(): RuntimeException
    {
        return $this->code() === null
            ? new UnexpectedResponseException($this->status)
            : new ProblemException($this->data, $this->retryAfterSeconds);
    }
}
