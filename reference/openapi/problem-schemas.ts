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

const text = (description: string, example: string): SchemaObject => ({
  type: 'string',
  description,
  example,
});

const INPUT_ERROR: SchemaObject = {
  type: 'object',
  description: 'One error in the input: a position in the body, or a query parameter.',
  required: ['detail'],
  properties: {
    pointer: text('A JSON pointer into the body (RFC 6901).', '#/phone'),
    parameter: text('The name of a query parameter.', 'page'),
    detail: { type: 'string', description: 'What the value must be. It never repeats what was sent.' },
  },
};

const listsErrors = (code: ProblemCode): boolean => code === 'validation_failed';

/** Returns the schema of one problem, with its fixed `type`, `status` and `code`. */
export const problemSchema = (code: ProblemCode): SchemaObject => {
  const { status } = PROBLEMS[code];
  const properties: Readonly<Record<string, SchemaObject>> = {
    type: { type: 'string', format: 'uri', enum: [problemType(code)] },
    title: text('For people.', titleOf(code)),
    status: { type: 'integer', enum: [status] },
    code: { type: 'string', enum: [code] },
    detail: text('For people; do not parse it.', PROBLEMS[code].detail),
    request_id: text('The same as X-Request-Id. Quote it when you report a problem.', EXAMPLE_REQUEST_ID),
    ...(listsErrors(code) ? { errors: { type: 'array', items: refTo('InputError') } } : {}),
  };
  const userId = text('Of a link: the user that holds the national id.', USER_ID_EXAMPLE);
  return {
    type: 'object',
    title: componentName(code),
    description: detailsOf(code),
    required: Object.keys(properties),
    properties: code === 'user_conflict' ? { ...properties, user_id: userId } : properties,
  };
};

/** Every problem code, in the order of their table. */
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** Returns the components of all problems, and the component they share. */
export const problemSchemas = (): Readonly<Record<string, SchemaObject>> => ({
  InputError: INPUT_ERROR,
  ...Object.fromEntries(PROBLEM_CODES.map((code) => [componentName(code), problemSchema(code)])),
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
