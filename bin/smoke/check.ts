import type { ProblemCode } from '#shared/problems.ts';
import { PROBLEMS } from '#shared/problems.ts';
import type { Reply } from './call.ts';
import { CheckFailed } from './check-failed.ts';

/** One check. `run` throws CheckFailed if the service does not respond as it should. */
export interface Check {
  readonly title: string;
  /** Left out on an emulator, which has no gateway responses and no authorizer flush. */
  readonly needsGateway?: boolean;
  run(): Promise<void>;
}

/** Throws CheckFailed with what was found, if a condition is not met. */
export const ensure = (isMet: boolean, found: string): void => {
  if (!isMet) throw new CheckFailed(found);
};

const described = ({ status, headers }: Reply): string =>
  `status ${status}, request id ${headers.get('x-request-id') ?? 'missing'}`;

/** Checks the status of a response, and that it has a request id. */
export const expectStatus = (reply: Reply, status: number): void => {
  ensure(reply.status === status, `expected status ${status}, got ${described(reply)}`);
  ensure(reply.headers.has('x-request-id'), 'the header X-Request-Id is missing');
};

/** Checks that a response is a problem with this code. */
export const expectProblem = (reply: Reply, code: ProblemCode): void => {
  expectStatus(reply, PROBLEMS[code].status);
  const type = reply.headers.get('content-type');
  ensure(type === 'application/problem+json', `the Content-Type is ${type}`);
  const found = (reply.json() as { code?: unknown } | undefined)?.code;
  ensure(found === code, `expected the code ${code}, got ${found}`);
};

/** Checks that a response has these headers. */
export const expectHeaders = ({ headers }: Reply, ...names: readonly string[]): void => {
  const missing = names.filter((name) => !headers.has(name));
  ensure(missing.length === 0, `headers are missing: ${missing.join(', ')}`);
};
