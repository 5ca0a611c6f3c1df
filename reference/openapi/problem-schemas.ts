import {
  detailsOf,
  type InputError,
  PROBLEMS,
  type ProblemCode,
  problemBody,
  problemType,
  titleOf,
} from '#shared/problems.ts';
import { USER_ID_EXAMPLE } from '#shared/users/schema.ts';
import { componentName, refTo, type SchemaObject } from './json-schema.ts';

/** A request id in the form of API Gateway. */
export const EXAMPLE_REQUEST_ID = 'UDfGvGWsjoEFvwA=';

const INPUT_ERROR: SchemaObject = {
  type: 'object',
  description: 'One error in the input: a position in the body, or a query parameter.',
  required: ['detail'],
  properties: {
    pointer: {
      type: 'string',
      description: 'A JSON pointer into the body (RFC 6901).',
      example: '#/phone',
    },
    parameter: { type: 'string', description: 'The name of a query parameter.', example: 'page' },
    detail: { type: 'string', description: 'What the value must be. It never repeats what was sent.' },
  },
};

const USER_ID_MEMBER: SchemaObject = {
  type: 'string',
  description: 'Of a link: the user that holds the national id.',
  example: USER_ID_EXAMPLE,
};

const REQUIRED = ['type', 'title', 'status', 'code', 'detail', 'request_id'];

const listsErrors = (code: ProblemCode): boolean => code === 'validation_failed';

/** Returns the schema of one problem, with its fixed `type`, `status` and `code`. */
export const problemSchema = (code: ProblemCode): SchemaObject => {
  const { status, detail } = PROBLEMS[code];
  return {
    type: 'object',
    title: componentName(code),
    description: detailsOf(code),
    required: [...REQUIRED, ...(listsErrors(code) ? ['errors'] : [])],
    properties: {
      type: { type: 'string', format: 'uri', enum: [problemType(code)] },
      title: { type: 'string', description: 'For people.', example: titleOf(code) },
      status: { type: 'integer', enum: [status] },
      code: { type: 'string', enum: [code] },
      detail: { type: 'string', description: 'For people; do not parse it.', example: detail },
      request_id: {
        type: 'string',
        description: 'The same as X-Request-Id. Quote it when you report a problem.',
        example: EXAMPLE_REQUEST_ID,
      },
      ...(listsErrors(code) ? { errors: { type: 'array', items: { $ref: refTo('InputError').$ref } } } : {}),
      ...(code === 'user_conflict' ? { user_id: USER_ID_MEMBER } : {}),
    } as Record<string, SchemaObject>,
  };
};

/** Returns the components of these problems, and the component they share. */
export const problemSchemas = (codes: readonly ProblemCode[]): Readonly<Record<string, SchemaObject>> => ({
  InputError: INPUT_ERROR,
  ...Object.fromEntries(codes.map((code) => [componentName(code), problemSchema(code)])),
});

/** Returns the schema of a body that is one of these problems, discriminated by `code`. */
export const anyOfProblems = (codes: readonly ProblemCode[]): SchemaObject => {
  const [only, ...others] = codes;
  if (only !== undefined && others.length === 0) return refTo(componentName(only));
  return {
    oneOf: codes.map((code) => refTo(componentName(code))),
    discriminator: {
      propertyName: 'code',
      mapping: Object.fromEntries(codes.map((code) => [code, String(refTo(componentName(code)).$ref)])),
    },
  };
};

/** Returns an example of a problem. `error` is the example of what `validation_failed` lists. */
export const problemExample = (code: ProblemCode, error: InputError) => ({
  summary: titleOf(code),
  value: problemBody(code, EXAMPLE_REQUEST_ID, {
    ...(listsErrors(code) ? { errors: [error] } : {}),
    ...(code === 'user_conflict' ? { user_id: USER_ID_EXAMPLE } : {}),
  }),
});
