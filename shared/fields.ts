import * as v from 'valibot';

/** A string that one of our parsers reads. JSON Schema cannot express the parser: what is before it in the pipe is wider. */
export const parsed = <T>(parse: (text: string) => T | undefined, message: string) =>
  v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
    const value = parse(dataset.value);
    if (value !== undefined) return value;
    addIssue({ message });
    return NEVER;
  });

/** `minimum` is at least 0. Without `maximum`, any integer that a number holds exactly. */
export const queryInteger = (description: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ type: 'integer', minimum, maximum }),
    parsed((sent) => {
      const value = /^(?:0|[1-9][0-9]*)$/.test(sent) ? Number(sent) : undefined;
      return value !== undefined && value >= minimum && value <= maximum ? value : undefined;
    }, `Must be an integer from ${minimum} to ${maximum}.`),
  );

export const shown = (description: string, example: string) =>
  v.pipe(v.string(), v.description(description), v.examples([example]));

/** A time in UTC. */
export const time = (description: string, example: string) =>
  v.pipe(v.string(), v.isoTimestamp(), v.description(description), v.examples([example]));

export const integer = (minimum: number, description: string, example: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.description(description), v.examples([example]));
