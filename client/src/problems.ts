import type { components } from './generated/openapi.ts';

type Schemas = components['schemas'];

/** Any refusal of the service (RFC 9457), told apart by `code`. */
export type Problem = Extract<Schemas[keyof Schemas], { readonly code: string; readonly request_id: string }>;

export type ProblemCode = Problem['code'];

/** A refusal of the service, as it is thrown. `problem` is what the service said; decide by `code`. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly requestId: string;
  readonly problem: Problem;
  /** How long to wait before the next try, where the service says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem, retryAfterSeconds: number | undefined) {
    super(`${problem.code}: ${problem.detail} (request ${problem.request_id})`);
    this.name = 'ProblemError';
    this.code = problem.code;
    this.status = problem.status;
    this.requestId = problem.request_id;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Whether something caught is this refusal: `if (isProblem(error, 'user_conflict')) …` narrows it to that problem. */
export const isProblem = <Code extends ProblemCode>(
  error: unknown,
  code: Code,
): error is ProblemError & { readonly code: Code; readonly problem: Extract<Problem, { code: Code }> } =>
  error instanceof ProblemError && error.code === code;

/** Whether a body is one of the service's problems, and not what some proxy on the way said. */
export const isProblemBody = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  typeof (body as Partial<Problem>).code === 'string' &&
  typeof (body as Partial<Problem>).request_id === 'string';

/** The seconds of a Retry-After header; undefined if there is none, or it is a date. */
export const retryAfterOf = ({ headers }: Response): number | undefined => {
  const value = headers.get('Retry-After') ?? '';
  return /^\d+$/.test(value) ? Number(value) : undefined;
};
