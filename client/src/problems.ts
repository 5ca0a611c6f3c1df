import type { components } from './generated/openapi.ts';

type Schemas = components['schemas'];

/** Any error response of the service (RFC 9457), discriminated by `code`. */
export type Problem = Extract<Schemas[keyof Schemas], { readonly code: string; readonly request_id: string }>;

/** Every problem code of the service. */
export type ProblemCode = Problem['code'];

/** A wrong field or parameter. Decide by its `code`. */
export type InputError = Schemas['InputError'];

const errorsOf = (problem: Problem): readonly InputError[] => ('errors' in problem ? problem.errors : []);

/** What the message says after the code: every wrong field of a `validation_failed`, else the `detail`. */
const explanationOf = (problem: Problem): string => {
  const errors = errorsOf(problem);
  const fields = errors.map(({ pointer, parameter, detail }) => `${pointer ?? parameter}: ${detail}`);
  return fields.length === 0 ? problem.detail : fields.join(' ');
};

/** An error response of the service. Decide by `code`; `problem` is the whole body. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly requestId: string;
  readonly problem: Problem;
  /** Which of its meanings the code has, if it has several: `cool_down`, `plan` … */
  readonly reason: string | undefined;
  /** The wrong fields of a `validation_failed`; else empty. */
  readonly errors: readonly InputError[];
  /** Seconds to wait before the next attempt, if the response has Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem, retryAfterSeconds: number | undefined) {
    super(`${problem.code}: ${explanationOf(problem)} (request ${problem.request_id})`);
    this.name = 'ProblemError';
    this.code = problem.code;
    this.status = problem.status;
    this.requestId = problem.request_id;
    this.problem = problem;
    this.reason = 'reason' in problem ? problem.reason : undefined;
    this.errors = errorsOf(problem);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns whether a caught error is this problem: `if (isProblem(error, 'user_conflict')) …` narrows its type. */
export const isProblem = <Code extends ProblemCode>(
  error: unknown,
  code: Code,
): error is ProblemError & { readonly code: Code; readonly problem: Extract<Problem, { code: Code }> } =>
  error instanceof ProblemError && error.code === code;

/** Returns whether a body is a problem of the service, and not the error page of a proxy. */
const isProblemBody = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  typeof (body as Partial<Problem>).code === 'string' &&
  typeof (body as Partial<Problem>).request_id === 'string';

/** Returns the seconds of a Retry-After header; undefined if there is none, or it is a date. */
export const retryAfterOf = ({ headers }: Response): number | undefined => {
  const value = headers.get('Retry-After') ?? '';
  return /^\d+$/.test(value) ? Number(value) : undefined;
};

/** `GET https://api.example.com/v1/users`, without the query, which can have a phone. */
const addressOf = ({ method, url }: Request): string => {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname}`;
};

/** Returns the error of a response: a ProblemError, or an Error if the body is not from the service. Reads the body. */
export const errorOf = async (request: Request, response: Response): Promise<Error> => {
  const body: unknown = await response.json().catch(() => undefined);
  return isProblemBody(body)
    ? new ProblemError(body, retryAfterOf(response))
    : new Error(
        `${addressOf(request)}: status ${response.status}, with a body that is not from the service.`,
      );
};

/** Returns the innermost cause: `fetch` says `fetch failed`, its cause why, such as `connect ECONNREFUSED 127.0.0.1:3000`. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const [first] = error instanceof AggregateError ? error.errors : [];
  const cause = error.cause ?? first;
  return cause === undefined ? error.message : reasonOf(cause);
};

/** Returns whether an attempt took too long: by the client's own timeout, that of `fetch` for a connection, or that of the system. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  (/timeout|ETIMEDOUT/i.test(`${error.name} ${'code' in error ? error.code : ''}`) || isTimeout(error.cause));

/** Returns the error of a request without a complete response. */
export const noResponse = (request: Request, cause: unknown): Error =>
  new Error(`${addressOf(request)}: no response: ${reasonOf(cause)}`, { cause });
