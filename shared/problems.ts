/**
 * Every refusal of the service: one closed table from code to status, title and the sentence a caller reads.
 * The body is RFC 9457 `application/problem+json`; functions and gateway make it from this same table.
 */

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** For the caller. It never repeats what was sent and never names an internal. */
  readonly detail: string;
}

export const PROBLEMS = {
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    detail: 'The body must be one JSON object.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  validation_failed: {
    status: 422,
    title: 'Validation failed',
    detail: 'Some of what was sent is missing, unknown or has a bad value. "errors" names each one.',
  },
  invalid_api_key: {
    status: 401,
    title: 'Invalid API key',
    detail: 'The header X-Api-Key is missing, or its key is not valid.',
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    detail: 'This API key does not hold the scope that this operation needs.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: 'There is no such path, or it does not answer to this method.',
  },
  buyer_not_registered: {
    status: 404,
    title: 'Buyer not registered',
    detail: 'No buyer with this phone is registered in the buyer app. Ask the buyer to register first.',
  },
  user_conflict: {
    status: 409,
    title: 'User conflict',
    detail: 'This national_id is already linked to your account with another phone or birth date.',
  },
  identity_mismatch: {
    status: 422,
    title: 'Identity mismatch',
    detail: 'The identity registry knows no living person with this national_id and birth_date.',
  },
  phone_not_owned: {
    status: 422,
    title: 'Phone not owned',
    detail: 'The phone-ownership registry says that this phone does not belong to this national_id.',
  },
  code_rejected: {
    status: 422,
    title: 'Code rejected',
    detail: 'The code is not right, or no longer valid. Check it, or send a new one.',
  },
  resend_too_soon: {
    status: 429,
    title: 'Resend too soon',
    detail:
      'A code was sent to this phone a short while ago, or too many were. Retry-After says how long to wait.',
  },
  too_many_attempts: {
    status: 429,
    title: 'Too many attempts',
    detail: 'Too many wrong codes were tried for this phone. Retry-After says how long to wait.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'Rate limit exceeded',
    detail: 'A limit of this API key, or of your address, is used up. Retry-After says how long to wait.',
  },
  verification_unavailable: {
    status: 503,
    title: 'Verification unavailable',
    detail: 'A national registry could not answer. Nothing was stored; the same request may be sent again.',
  },
  sms_unavailable: {
    status: 503,
    title: 'SMS unavailable',
    detail: 'The SMS provider did not take the message. Retry-After says when to try again.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Quote request_id if you write to us.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One thing wrong with a request: a JSON pointer into the body, or the name of a query parameter. */
export type InputError =
  | { readonly pointer: string; readonly detail: string }
  | { readonly parameter: string; readonly detail: string };

interface ProblemOptions {
  readonly errors?: readonly InputError[];
  /** Seconds, at least 1; becomes the header Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Why, for the log alone. */
  readonly cause?: unknown;
}

/** A refusal on its way to the caller. Thrown anywhere, answered at one place: `http/endpoint.ts`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly InputError[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(code, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** `throw problem('user_conflict')` */
export const problem = (code: ProblemCode, options?: ProblemOptions): Problem => new Problem(code, options);

/** The `type` URI of a problem code. */
export const problemType = (code: ProblemCode): string => `urn:buyer-linking:problem:${code}`;

/** The RFC 9457 body of a problem. */
export const problemBody = (code: ProblemCode, requestId: string, errors?: readonly InputError[]) => ({
  type: problemType(code),
  title: PROBLEMS[code].title,
  status: PROBLEMS[code].status,
  code,
  detail: PROBLEMS[code].detail,
  request_id: requestId,
  ...(errors === undefined ? {} : { errors }),
});
