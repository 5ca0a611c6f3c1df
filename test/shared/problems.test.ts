import {
  PROBLEMS,
  Problem,
  type ProblemCode,
  problem,
  problemBody,
  problemType,
  titleOf,
} from '#shared/problems.ts';
import { itForAll } from '#test/for-all.ts';

/** The closed list of the contract. */
const STATUSES = {
  malformed_json: 400,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  invalid_api_key: 401,
  invalid_access_token: 401,
  insufficient_scope: 403,
  link_refused: 403,
  too_many_secrets: 409,
  not_found: 404,
  user_not_found: 404,
  buyer_not_registered: 404,
  user_conflict: 409,
  external_id_conflict: 409,
  identity_mismatch: 422,
  phone_not_owned: 422,
  code_rejected: 422,
  events_expired: 410,
  resend_too_soon: 429,
  too_many_attempts: 429,
  rate_limit_exceeded: 429,
  verification_unavailable: 503,
  sms_unavailable: 503,
  service_unavailable: 503,
  internal: 500,
};

const codes = Object.keys(PROBLEMS) as ProblemCode[];

describe('PROBLEMS', () => {
  it('is the closed list of the contract, each code with its one status', () => {
    expect(Object.fromEntries(codes.map((code) => [code, PROBLEMS[code].status]))).toEqual(STATUSES);
  });

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
    const errors = [{ pointer: '#/phone', detail: 'Is required.' }];
    expect(problemBody('validation_failed', 'req-1', { errors }).errors).toEqual(errors);
  });

  it('has the detail that is given in place of that of the code', () => {
    const detail = PROBLEMS.sms_unavailable.otherDetail;
    expect(problemBody('sms_unavailable', 'req-1', { detail }).detail).toBe(detail);
  });

  it('has a type that is a valid URN', () => {
    expect(codes.map(problemType).filter((type) => !/^urn:[a-z0-9-]{2,32}:[a-z_:]+$/.test(type))).toEqual([]);
  });
});

describe('problem', () => {
  it('is an error with its code, Retry-After, faults and cause', () => {
    const cause = new Error('why');
    const errors = [{ parameter: 'page', detail: 'Must be an integer.' }];
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
