<?php

declare(strict_types=1);

namespace BuyerLinking;

use RuntimeException;

/** An error response of the service (RFC 9457). Decide by `$problemCode`, a constant of ProblemCode. */
final class ProblemException extends RuntimeException
{
    public readonly string $problemCode;
    public readonly int $status;
    public readonly string $requestId;

    /** @var list<FieldError> every wrong field of a `validation_failed`; empty for other problems */
    public readonly array $errors;

    /**
     * @param array<string, mixed> $problem           the whole body
     * @param int|null             $retryAfterSeconds seconds to wait, if the response has Retry-After
     */
    public function __construct(public readonly array $problem, public readonly ?int $retryAfterSeconds)
    {
        $this->problemCode = (string) $problem['code'];
        $this->status = (int) ($problem['status'] ?? 0);
        $this->requestId = (string) $problem['request_id'];
        $this->errors = array_map(FieldError::fromArray(...), array_values($problem['errors'] ?? []));
        $explanation = $this->errors === [] ? (string) ($problem['detail'] ?? '') : implode(' ', $this->errors);
        parent::__construct("{$this->problemCode}: {$explanation} (request {$this->requestId})", $this->status);
    }
}
