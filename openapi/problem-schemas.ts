import {
  type CodeWithReason,
  detailsOf,
  INPUT_ERROR_CODES,
  type InputError,
  PROBLEMS,
  type ProblemCode,
  problemBody,
  problemType,
  REASONS,
  type Reason,
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
  required: ['code', 'detail'],
  properties: {
    pointer: text('A JSON pointer into the body (RFC 6901).', '#/phone'),
    parameter: text('The name of a query parameter.', 'page'),
    code: {
      type: 'string',
      description:
        '`required`: a required field is missing or null. `unknown`: no such field or parameter; `detail` names the known ones. ' +
        '`type`: another JSON type, such as null in an optional field. `invalid`: a value that breaks a rule, a repeated parameter, or two that exclude each other.',
      enum: INPUT_ERROR_CODES,
    },
    detail: { type: 'string', description: 'What the value must be. It never repeats what was sent.' },
  },
};

const listsErrors = (code: ProblemCode): boolean => code === 'validation_failed';

const WITH_RETRY_AFTER: readonly number[] = [429, 503];

/** Returns whether every response with this status has Retry-After. */
export const hasRetryAfter = (status: number): boolean => WITH_RETRY_AFTER.includes(status);

const RETRY_AFTER_EXAMPLE = 30;

const reasonsOf = (code: ProblemCode): readonly Reason[] =>
  code in REASONS ? (Object.keys(REASONS[code as CodeWithReason]) as Reason[]) : [];

/** The members that not every response of the code has. */
const optionalMembers = (code: ProblemCode): Readonly<Record<string, SchemaObject>> => {
  const reasons = reasonsOf(code);
  const description = 'Which of its meanings the code has. Absent if the gateway made the response.';
  return {
    ...(reasons.length > 0 && { reason: { type: 'string', description, enum: reasons } }),
    ...(code === 'user_conflict' && {
      user_id: text('Of a link: the user that holds the national id.', USER_ID_EXAMPLE),
    }),
  };
};

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
    ...(hasRetryAfter(status) && {
      retry_after: {
        type: 'integer',
        description: 'The seconds of Retry-After.',
        minimum: 1,
        example: RETRY_AFTER_EXAMPLE,
      },
    }),
    ...(listsErrors(code) && { errors: { type: 'array', items: refTo('InputError') } }),
  };
  return {
    type: 'object',
    title: componentName(code),
    description: detailsOf(code),
    required: Object.keys(properties),
    properties: { ...properties, ...optionalMembers(code) },
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
    retryAfterSeconds: hasRetryAfter(PROBLEMS[code].status) ? RETRY_AFTER_EXAMPLE : undefined,
    reason: reasonsOf(code)[0],
    errors: listsErrors(code) ? [error] : undefined,
    user_id: code === 'user_conflict' ? USER_ID_EXAMPLE : undefined,
  }),
});
