import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { CheckFailed, type Reply } from './call.ts';

/** Throws CheckFailed with what was found, if a condition is not met. */
export const expectThat = (isMet: boolean, found: string): void => {
  if (!isMet) throw new CheckFailed(found);
};

/** Checks the status of a response, and that it has a request id and these headers. */
export const expectStatus = (
  { status, headers }: Reply,
  expected: number,
  ...names: readonly string[]
): void => {
  const found = `status ${status}, request id ${headers.get('x-request-id') ?? 'missing'}`;
  expectThat(status === expected, `expected status ${expected}, got ${found}`);
  expectThat(headers.has('x-request-id'), 'the header X-Request-Id is missing');
  const missing = names.filter((name) => !headers.has(name));
  expectThat(missing.length === 0, `headers are missing: ${missing.join(', ')}`);
};

/** Checks that a response is a problem with this code. */
export const expectProblem = (reply: Reply, code: ProblemCode): void => {
  expectStatus(reply, PROBLEMS[code].status);
  const type = reply.headers.get('content-type');
  expectThat(type === 'application/problem+json', `the Content-Type is ${type}`);
  expectThat(reply.body?.code === code, `expected the code ${code}, got ${reply.body?.code}`);
};
