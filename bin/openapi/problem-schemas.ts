import { PROBLEMS, type ProblemCode, problemBody, problemType } from '#shared/problems.ts';
import { refTo, type SchemaObject } from './json-schema.ts';

/** A request id as API Gateway makes them. */
export const EXAMPLE_REQUEST_ID = 'UDfGvGWsjoEFvwA=';

const INPUT_ERROR: SchemaObject = {
  type: 'object',
  description: 'One thing that is wrong: a place in the body, or a query parameter.',
  required: ['detail'],
  properties: {
    pointer: {
      type: 'string',
      description: 'A JSON pointer into the body (RFC 6901).',
      example: '#/phone',
    },
    parameter: { type: 'string', description: 'The name of a query parameter.', example: 'page' },
    detail: { type: 'string', description: 'What it must be. Never what was sent.' },
  },
};

/** `user_conflict` -> `UserConflict`. */
export const componentOf = (code: ProblemCode): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const namesItsErrors = (code: ProblemCode): boolean => code === 'validation_failed';

/** The schema of one problem: its `type`, `status` and `code` are fixed. */
export const problemSchema = (code: ProblemCode): SchemaObject => {
  const { status, title, detail } = PROBLEMS[code];
  return {
    type: 'object',
    title: componentOf(code),
    description: detail,
    required: [
      'type',
      'title',
      'status',
      'code',
      'detail',
      'request_id',
      ...(namesItsErrors(code) ? ['errors'] : []),
    ],
    properties: {
      type: { type: 'string', format: 'uri', enum: [problemType(code)] },
      title: { type: 'string', description: 'For people.', example: title },
      status: { type: 'integer', enum: [status] },
      code: { type: 'string', enum: [code] },
      detail: { type: 'string', description: 'For people; do not parse it.', example: detail },
      request_id: {
        type: 'string',
        description: 'The same as X-Request-Id. Quote it if you write to us.',
        example: EXAMPLE_REQUEST_ID,
      },
      ...(namesItsErrors(code)
        ? { errors: { type: 'array', items: { $ref: refTo('InputError').$ref } } }
        : {}),
    } as Record<string, SchemaObject>,
  };
};

/** The problems of a set of rows as components, and what they share. */
export const problemSchemas = (codes: readonly ProblemCode[]): Readonly<Record<string, SchemaObject>> => ({
  InputError: INPUT_ERROR,
  ...Object.fromEntries(codes.map((code) => [componentOf(code), problemSchema(code)])),
});

/** The body of a response that may be any of these problems, told apart by `code`. */
export const anyOfProblems = (codes: readonly ProblemCode[]): SchemaObject => {
  const [only, ...others] = codes;
  if (only !== undefined && others.length === 0) return refTo(componentOf(only));
  return {
    oneOf: codes.map((code) => refTo(componentOf(code))),
    discriminator: {
      propertyName: 'code',
      mapping: Object.fromEntries(codes.map((code) => [code, String(refTo(componentOf(code)).$ref)])),
    },
  };
};

/** A problem as it comes, for the reference page. `field` is one that the operation knows. */
export const problemExample = (code: ProblemCode, at: { pointer: string } | { parameter: string }) => ({
  summary: PROBLEMS[code].title,
  value: problemBody(
    code,
    EXAMPLE_REQUEST_ID,
    namesItsErrors(code) ? [{ ...at, detail: 'Is required.' }] : undefined,
  ),
});
