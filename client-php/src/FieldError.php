<?php

declare(strict_types=1);

namespace BuyerLinking;

use Stringable;

/** One wrong field of a request. */
final class FieldError implements Stringable
{
    /**
     * @param string $field  a JSON pointer into the body (`#/phone`), or the name of a query parameter
     * @param string $detail what the value must be
     */
    public function __construct(public readonly string $field, public readonly string $detail)
    {
    }

    /** @param array<string, string> $data */
    public static function fromArray(array $data): self
    {
        return new self($data['pointer'] ?? $data['parameter'] ?? '', $data['detail'] ?? '');
    }

    public function __toString(): string
    {
        return "{$this->field}: {$this->detail}";
    }
}
