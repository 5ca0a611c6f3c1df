/** Parts of the schemas of requests and responses. */
import * as v from 'valibot';

/**
 * A string field that one of our parsers reads. Text that the parser rejects gets `message`. JSON Schema cannot express the parser, so
 * the metadata before it gives a pattern that accepts everything the parser accepts.
 */
export const parsed = <T>(parse: (text: string) => T | undefined, message: string) =>
  v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
    const value = parse(dataset.value);
    if (value !== undefined) return value;
    addIssue({ message });
    return NEVER;
  });

/** An integer in the query, which comes as a string. `minimum` is at least 0. */
export const queryInteger = (
  description: string,
  message: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
) =>
  v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ type: 'integer', minimum, maximum }),
    parsed((sent) => {
      const value = /^(?:0|[1-9][0-9]*)$/.test(sent) ? Number(sent) : undefined;
      return value !== undefined && value >= minimum && value <= maximum ? value : undefined;
    }, message),
  );

export const shown = (description: string, example: string) =>
  v.pipe(v.string(), v.description(description), v.examples([example]));

export const integer = (minimum: number, description: string, example: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.description(description), v.examples([example]));
