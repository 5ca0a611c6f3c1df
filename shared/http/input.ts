import * as v from 'valibot';
import { type InputError, problem } from '#shared/problems.ts';

type ObjectSchema = v.GenericSchema & { readonly entries: Readonly<Record<string, unknown>> };

type QueryParameters = Readonly<Record<string, readonly string[] | undefined>>;

/** A body of thousands of unknown fields gets an answer of bounded size. */
const MAX_ERRORS = 100;
const MAX_NAME_LENGTH = 100;

const shorten = (name: string): string =>
  name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;

/** `#/display_name`: a JSON pointer in its URI fragment form (RFC 6901 §6). */
const pointerTo = (field: string): string =>
  `#/${encodeURIComponent(shorten(field).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))}`;

/** Each field that is wrong, with its first fault. Unknown ones come last, all of them: valibot itself stops at the first. */
const faultsOf = (
  schema: ObjectSchema,
  sent: Readonly<Record<string, unknown>>,
  issues: readonly v.BaseIssue<unknown>[],
  noun: 'field' | 'parameter',
): readonly (readonly [string, string])[] => {
  const faults = new Map<string, string>();
  for (const issue of issues) {
    const field = String(issue.path?.[0]?.key);
    if (!Object.hasOwn(schema.entries, field) || faults.has(field)) continue;
    faults.set(field, Object.hasOwn(sent, field) ? issue.message : 'Is required.');
  }
  for (const field of Object.keys(sent)) {
    if (!Object.hasOwn(schema.entries, field)) faults.set(field, `Is not a known ${noun}.`);
    if (faults.size >= MAX_ERRORS) break;
  }
  return [...faults];
};

/** An object's fields by the schema's own names alone, so that a name like `__proto__` or `toString` finds nothing inherited. */
const judge = (
  schema: ObjectSchema,
  sent: Readonly<Record<string, unknown>>,
  noun: 'field' | 'parameter',
) => {
  const known: Record<string, unknown> = Object.create(null);
  for (const field of Object.keys(schema.entries)) {
    if (Object.hasOwn(sent, field)) known[field] = sent[field];
  }
  const result = v.safeParse(schema, known);
  const faults = faultsOf(schema, sent, result.issues ?? [], noun);
  return { output: result.output, faults };
};

const judgeBody = (schema: ObjectSchema, body: unknown) => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw problem('malformed_json');
  const { output, faults } = judge(schema, body as Record<string, unknown>, 'field');
  const errors: InputError[] = faults.map(([field, detail]) => ({ pointer: pointerTo(field), detail }));
  return { output, errors };
};

/** None are known if there is no schema. A parameter given twice has no one value, so it is refused. */
const judgeQuery = (schema: ObjectSchema = v.strictObject({}), parameters: QueryParameters) => {
  const repeated = Object.keys(parameters).filter((name) => (parameters[name]?.length ?? 0) > 1);
  const single = Object.fromEntries(
    Object.entries(parameters).map(([name, values]) => [name, values?.[0] ?? '']),
  );
  const { output, faults } = judge(schema, single, 'parameter');
  const all = new Map([...faults, ...repeated.map((name) => [name, 'Must be given once.'] as const)]);
  const errors: InputError[] = [...all].map(([name, detail]) => ({ parameter: shorten(name), detail }));
  return { output, errors };
};

/** Body and query by their schemas, or `malformed_json` (no object) or `validation_failed` with the faults of both at once. */
export const parseInput = (
  schemas: { readonly body?: ObjectSchema | undefined; readonly query?: ObjectSchema | undefined },
  sent: { readonly body: unknown; readonly query: QueryParameters },
): { readonly body: unknown; readonly query: unknown } => {
  const body = schemas.body ? judgeBody(schemas.body, sent.body) : { output: undefined, errors: [] };
  const query = judgeQuery(schemas.query, sent.query);
  const errors = [...body.errors, ...query.errors];
  if (errors.length > 0) throw problem('validation_failed', { errors });
  return { body: body.output, query: query.output };
};
