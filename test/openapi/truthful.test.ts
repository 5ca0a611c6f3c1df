import { Ajv } from 'ajv';
import fc from 'fast-check';
import * as v from 'valibot';
import { inputSchema, type SchemaObject } from '#openapi/json-schema.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { runsOf } from '#test/full-run.ts';
import { anyText } from '#test/shared/any-script.ts';

/** Every field of every body: its schema in the service, and its schema in the document. */
const everyField = allRoutes.flatMap((route) =>
  Object.entries(route.body?.entries ?? {}).map(
    ([name, schema]) =>
      [
        `${route.name} ${name}`,
        schema,
        inputSchema(route.body as v.GenericSchema).properties?.[name] as SchemaObject,
      ] as const,
  ),
);

/** Once for the rows that share both schemas. */
const fields = everyField.filter(
  ([, schema, published], index) =>
    everyField.findIndex(
      ([, itsSchema, itsPublished]) =>
        itsSchema === schema && JSON.stringify(itsPublished) === JSON.stringify(published),
    ) === index,
);

const ZEROS = [0x30, 0x6f0, 0x660];

/** The example with digits of several scripts, and sometimes a character inserted. */
const nearMisses = (example: string) =>
  fc
    .tuple(
      fc.array(fc.constantFrom(...ZEROS), { minLength: example.length, maxLength: example.length }),
      fc.nat(example.length),
      fc.constantFrom('', '', '', ' ', '-', '0', '٣', '/', '\u202e', '\u00a0', '\u2011', 'é', '+'),
    )
    .map(([zeros, at, put]) => {
      const digits = example.replace(/[0-9]/g, (digit, index: number) =>
        String.fromCharCode((zeros[index] as number) + Number(digit)),
      );
      return digits.slice(0, at) + put + digits.slice(at);
    });

describe.each(fields)('the schema in the document of %s', (_title, schema, published) => {
  const ajv = new Ajv({ strict: false });
  const isPublished = ajv.compile(published);
  const isAccepted = (sent: unknown) => v.safeParse(schema, sent).success;
  const sent = fc.oneof(nearMisses(String(published.example)), fc.string(), anyText());

  it('accepts everything that the service accepts', () => {
    fc.assert(
      fc.property(sent, (text) => {
        expect(isAccepted(text) && !isPublished(text)).toBe(false);
      }),
      { numRuns: runsOf(400) },
    );
  });

  it('accepts the example and rejects an empty string, if it has a pattern, and a value of another type, as the service does', () => {
    expect([isAccepted(published.example), isPublished(published.example)]).toEqual([true, true]);
    expect([isAccepted(''), isPublished('')]).toEqual([false, published.maxLength !== undefined]);
    const ofAnotherType = typeof published.example === 'number' ? '1' : 1;
    expect([isAccepted(ofAnotherType), isPublished(ofAnotherType)]).toEqual([false, false]);
  });
});

/** Forms that no pattern of all languages says. */
const WITHOUT_PATTERN = ['national_id', 'birth_date', 'phone', 'code'];

describe('a field whose form no pattern says', () => {
  const ofForm = everyField.filter(([title]) => WITHOUT_PATTERN.some((name) => title.endsWith(` ${name}`)));

  itForAll(ofForm)('has at most 64 characters as it is sent, and no pattern', (_title, schema, published) => {
    const padded = (length: number) => String(published.example).padEnd(length);
    expect(v.is(schema, padded(64))).toBe(true);
    expect(v.safeParse(schema, padded(65)).issues?.map(({ message }) => message)).toEqual([
      'Must be at most 64 characters.',
    ]);
    expect([published.maxLength, published.pattern]).toEqual([64, undefined]);
    expect(published.description).toBeTruthy();
  });
});
