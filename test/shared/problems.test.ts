import {
  detailsOf,
  PROBLEMS,
  Problem,
  type ProblemCode,
  problem,
  problemBody,
  titleOf,
} from '#shared/problems.ts';
import { itForAll } from '#test/for-all.ts';

const codes = Object.keys(PROBLEMS) as ProblemCode[];

describe('PROBLEMS', () => {
  it('has a detail of its own for each code', () => {
    const details = codes.map((code) => PROBLEMS[code].detail);
    expect(new Set(details).size).toBe(codes.length);
    expect(details.filter((detail) => !/^[A-Z].*\.$/s.test(detail))).toEqual([]);
  });

  it('names no internals', () => {
    const texts = JSON.stringify(PROBLEMS);
    expect(texts).not.toMatch(/dynamo|lambda|kms|aws|jibit|zohal|kavenegar|stack|exception/i);
  });
});

describe('detailsOf', () => {
  it('says what a code means for every operation: all its cases, and no example', () => {
    expect(detailsOf('user_conflict')).toMatch(/ Or: This national_id is not that of the user\.$/);
    expect(detailsOf('insufficient_scope')).not.toMatch(/[A-Z]+ \/v1|[a-z]+:[a-z]+/);
  });
});

describe('problemBody', () => {
  itForAll(codes)('is an RFC 9457 body with exactly these members for each code', (code) => {
    expect(problemBody(code, 'req-1')).toEqual({
      type: `urn:buyer-linking:problem:${code}`,
      title: titleOf(code),
      status: PROBLEMS[code].status,
      code,
      detail: PROBLEMS[code].detail,
      request_id: 'req-1',
    });
  });

  it('lists each fault of the input', () => {
    const errors = [{ pointer: '#/phone', code: 'required', detail: 'Is required.' } as const];
    expect(problemBody('validation_failed', 'req-1', { errors }).errors).toEqual(errors);
  });

  it('has the reason and whole seconds, at least 1, as retry_after', () => {
    const seconds = [0, 0.2, 41.2].map((retryAfterSeconds) =>
      problemBody('resend_too_soon', 'req-1', { retryAfterSeconds, reason: 'cool_down' }),
    );
    expect(seconds.map(({ reason, retry_after }) => [reason, retry_after])).toEqual([
      ['cool_down', 1],
      ['cool_down', 1],
      ['cool_down', 42],
    ]);
  });

  it('has the detail that is given in place of that of the code', () => {
    const detail = PROBLEMS.sms_unavailable.otherDetail;
    expect(problemBody('sms_unavailable', 'req-1', { detail }).detail).toBe(detail);
  });
});

describe('problem', () => {
  it('is an error with its code, Retry-After, faults and cause', () => {
    const cause = new Error('why');
    const errors = [{ parameter: 'page', code: 'invalid', detail: 'Must be an integer.' } as const];
    const thrown = problem('resend_too_soon', { retryAfterSeconds: 42, errors, cause });
    expect(thrown).toBeInstanceOf(Problem);
    expect(thrown).toMatchObject({
      name: 'Problem',
      code: 'resend_too_soon',
      retryAfterSeconds: 42,
      texts: { errors },
      cause,
    });
  });
});
