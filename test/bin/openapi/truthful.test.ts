import { Ajv } from 'ajv';
import fc from 'fast-check';
import * as v from 'valibot';
import { inputSchema, type SchemaObject } from '#bin/openapi/json-schema.ts';
import { allRoutes } from '#shared/routes.ts';

/** Every string field of every body: what the service takes, and what the document says of it. */
const fields = allRoutes.flatMap((route) =>
  Object.entries(route.body?.entries ?? {}).map(
    ([name, schema]) =>
      [
        `${route.name} ${name}`,
        schema,
        inputSchema(route.body as v.GenericSchema).properties?.[name] as SchemaObject,
      ] as const,
  ),
);

const ZEROS = [0x30, 0x6f0, 0x660];

/** An example with some of its digits in other scripts, and a character put in somewhere, taken out or left alone. */
const nearMisses = (example: string) =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...ZEROS), { minLength: example.length, maxLength: example.length }),
      fc.nat(example.length),
      fc.constantFrom('', '', '', ' ', '-', '0', '٣', '/', '\u202e', 'é', '+'),
    )
    .map(([zeros, at, put]) => {
      const digits = example.replace(/[0-9]/g, (digit, index: number) =>
        String.fromCharCode((zeros[index] as number) + Number(digit)),
      );
      return digits.slice(0, at) + put + digits.slice(at);
    });

describe.each(fields)('the document on %s', (_title, schema, published) => {
  const ajv = new Ajv({ strict: false });
  const isPublished = ajv.compile(published);
  const isTaken = (sent: unknown) => v.safeParse(schema, sent).success;
  const sent = fc.oneof(nearMisses(String(published.example)), fc.string(), fc.string({ unit: 'binary' }));

  it('never refuses what the service takes', () => {
    fc.assert(
      fc.property(sent, (text) => {
        expect(isTaken(text) && !isPublished(text)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('is about something: its example is taken, an empty string and a number are not, by either', () => {
    expect([isTaken(published.example), isPublished(published.example)]).toEqual([true, true]);
    expect([isTaken(''), isPublished('')]).toEqual([false, false]);
    expect([isTaken(1), isPublished(1)]).toEqual([false, false]);
  });
});
