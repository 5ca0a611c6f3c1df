/** Every error response of the service, from which functions and gateway build the RFC 9457 body. */

interface ProblemKind {
  readonly status: number;
  /** By default the code in words. */
  readonly title?: string;
  /** For the caller. It never echoes what was sent and names no internals. */
  readonly detail: string;
  /** The detail in a second case of the same code. */
  readonly otherDetail?: string;
  /** What the code means, where the detail is an example. */
  readonly meaning?: string;
}

/** The detail of a refusal by the gateway, which alone answers `insufficient_scope`. It names nothing that the caller chose. */
export const insufficientScopeDetail = (refused: {
  readonly method: string;
  /** Of the row: `/v1/users/{id}`. */
  readonly path: string;
  /** Of the key, as the authorizer's context has them. */
  readonly scopes: string;
}): string =>
  `${refused.method} ${refused.path} needs a scope that this key does not have. It has: ${refused.scopes}. /docs names the scope of each operation; whoever issued the key can add it.`;

export const PROBLEMS = {
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    detail: 'The body must be one JSON object in UTF-8.',
  },
  unsupported_media_type: {
    status: 415,
    detail: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  body_too_large: {
    status: 413,
    detail: 'The body is over 16 KB.',
  },
  validation_failed: {
    status: 422,
    detail: 'A field or parameter is missing, unknown or has a bad value. "errors" names each one.',
  },
  invalid_api_key: {
    status: 401,
    title: 'Invalid API key',
    detail:
      'The X-Api-Key header is missing or its key is not valid. A revoked or expired key and a key of a suspended seller look the same.',
  },
  invalid_access_token: {
    status: 401,
    detail:
      'The Authorization header must be Bearer and an access token of this service for your account that has not expired. Let the buyer sign in again.',
  },
  insufficient_scope: {
    status: 403,
    detail: insufficientScopeDetail({
      method: 'GET',
      path: '/v1/events',
      scopes: 'users:read, users:write',
    }),
    meaning:
      'The key lacks the scope of this operation. The response names the scopes that it has; whoever issued the key can add one.',
  },
  link_refused: {
    status: 403,
    detail:
      'The buyer has ended the link with your account. Let the buyer sign in at your shop, and send the new access token with the request, as Authorization: Bearer.',
  },
  too_many_secrets: {
    status: 409,
    detail: 'An older secret of this API key is still valid. Wait until it has ended.',
  },
  not_found: {
    status: 404,
    detail: 'No such path, or the path does not support this method. /docs lists the operations.',
  },
  user_not_found: {
    status: 404,
    detail: 'No user of your account has this id.',
  },
  buyer_not_registered: {
    status: 404,
    detail: 'No buyer with this phone is registered in the buyer app. Ask the buyer to register first.',
  },
  user_conflict: {
    status: 409,
    detail: 'This national_id is already linked to your account with another phone or birth date.',
    otherDetail: 'This national_id is not that of the user.',
  },
  external_id_conflict: {
    status: 409,
    detail:
      'Another user of your account has this external_id. Find it with GET /v1/users?external_id=, or send another one.',
  },
  identity_mismatch: {
    status: 422,
    detail:
      'The identity registry has no living person with this national_id and birth_date. Ask the buyer for both again.',
  },
  phone_not_owned: {
    status: 422,
    detail:
      'According to the phone-ownership registry, this phone does not belong to this national_id. Ask the buyer for a phone in their own name.',
  },
  code_rejected: {
    status: 422,
    detail: 'The code is wrong or no longer valid. Check it, or send a new one.',
  },
  events_expired: {
    status: 410,
    detail:
      'The event after this number is no longer kept, or it never was: the number is higher than that of your newest event. Read all users again.',
  },
  resend_too_soon: {
    status: 429,
    // One text for the limits of this seller and of all sellers together: two would tell that others sent codes.
    detail:
      'Too many codes were sent to this phone. Show the field for the code: the last one may have arrived. Wait for Retry-After seconds.',
    otherDetail:
      'A code was sent to this phone less than a minute ago. Show the field for the code, and wait for Retry-After seconds before you send another one.',
  },
  too_many_attempts: {
    status: 429,
    detail: 'Too many attempts failed for this phone or person. Wait for Retry-After seconds.',
  },
  rate_limit_exceeded: {
    status: 429,
    detail: 'A limit of this API key or of your address is used up. Wait for Retry-After seconds.',
  },
  verification_unavailable: {
    status: 503,
    detail:
      'A national registry gave no result. Nothing was stored. Ask the buyer to try again later, after Retry-After seconds; a program must not repeat the request by itself.',
  },
  sms_unavailable: {
    status: 503,
    title: 'SMS unavailable',
    detail: 'The message was not sent. Try again after Retry-After seconds.',
    otherDetail:
      'The message may have been sent. Ask the buyer whether the code arrived before you send another one, after Retry-After seconds.',
  },
  service_unavailable: {
    status: 503,
    detail:
      'The service cannot reach its own storage at the moment. Send the same request again after Retry-After seconds.',
    otherDetail:
      'Other changes of your users came first. Send the same request again after Retry-After seconds.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'An unexpected error occurred in the service. Quote request_id when you report it.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

const OF_THE_KEY = 'this limit of the key is used up';

/**
 * The words of `reason` and what they mean, by the codes that mean several things. A function gives each problem of these codes one, the
 * gateway none. The docs are generated from it.
 */
export const REASONS = {
  resend_too_soon: {
    phone_limit: 'too many codes were sent to the phone',
    cool_down: 'a code was sent to the phone less than a minute ago',
  },
  too_many_attempts: {
    code_tries: 'the tries of this code are used up; send another one',
    phone_locked: 'the phone is locked for your account after failed codes',
    phone_locked_for_good: 'the phone is locked until an operator of the service unlocks it',
    person_checks: 'too many checks of this person',
    searches: 'too many searches of this phone that matched nobody (buyer app)',
  },
  rate_limit_exceeded: {
    plan: "the plan's limit of the key is used up",
    'sms-per-hour': OF_THE_KEY,
    'failed-checks-per-hour': OF_THE_KEY,
    'refused-links-per-hour': OF_THE_KEY,
    'paid-checks-per-day': OF_THE_KEY,
    'failed-verifies-per-hour': OF_THE_KEY,
  },
  sms_unavailable: {
    not_sent: 'the message was certainly not sent',
    possibly_sent: 'the message may have been sent; ask the buyer whether the code arrived',
  },
} as const satisfies { readonly [Code in ProblemCode]?: Readonly<Record<string, string>> };

export type CodeWithReason = keyof typeof REASONS;

export type ReasonOf<Code extends CodeWithReason> = keyof (typeof REASONS)[Code];

export type Reason = { readonly [Code in CodeWithReason]: ReasonOf<Code> }[CodeWithReason];

/**
 * `required`: a required field is missing or null. `unknown`: no such field or parameter. `type`: another JSON type, such as null in an
 * optional field. `invalid`: a value that breaks a rule, a repeated parameter, or two that exclude each other.
 */
export const INPUT_ERROR_CODES = ['required', 'unknown', 'type', 'invalid'] as const;

export interface InputFault {
  readonly code: (typeof INPUT_ERROR_CODES)[number];
  readonly detail: string;
}

/** One thing wrong with a request: a JSON pointer into the body, or the name of a query parameter. */
export type InputError = InputFault & ({ readonly pointer: string } | { readonly parameter: string });

export interface ProblemTexts {
  readonly errors?: readonly InputError[] | undefined;
  /** A fixed text in place of the detail of the code. */
  readonly detail?: string | undefined;
  readonly reason?: Reason | undefined;
  readonly user_id?: string | undefined;
}

interface ProblemOptions extends ProblemTexts {
  /** At least 1; becomes the header Retry-After and `retry_after`. */
  readonly retryAfterSeconds?: number | undefined;
  /** For the log only. */
  readonly cause?: unknown;
}

/** An error response. Code throws it anywhere; `http/endpoint.ts` turns it into the response. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly texts: ProblemTexts;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, { cause, retryAfterSeconds, ...texts }: ProblemOptions = {}) {
    super(code, { cause });
    this.code = code;
    this.texts = texts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const problem = (code: ProblemCode, options?: ProblemOptions): Problem => new Problem(code, options);

/** Retry-After of `service_unavailable`, in seconds: long enough for a throttled partition to recover. That of a write conflict is 1. */
export const SERVICE_RETRY_AFTER_SECONDS = 5;

export const serviceUnavailable = (cause: unknown): Problem =>
  problem('service_unavailable', { cause, retryAfterSeconds: SERVICE_RETRY_AFTER_SECONDS });

/** `user_not_found` -> `User not found`. */
export const titleOf = (code: ProblemCode): string => {
  const { title }: ProblemKind = PROBLEMS[code];
  return title ?? `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`;
};

export const detailsOf = (code: ProblemCode): string => {
  const { detail, otherDetail, meaning = detail }: ProblemKind = PROBLEMS[code];
  return otherDetail === undefined ? meaning : `${meaning} Or: ${otherDetail}`;
};

export const problemType = (code: ProblemCode): string => `urn:buyer-linking:problem:${code}`;

export type ProblemBody = ReturnType<typeof problemBody>;

export const problemBody = (
  code: ProblemCode,
  requestId: string,
  { errors, detail, reason, retryAfterSeconds, user_id }: Omit<ProblemOptions, 'cause'> = {},
) => ({
  type: problemType(code),
  title: titleOf(code),
  status: PROBLEMS[code].status,
  code,
  detail: detail ?? PROBLEMS[code].detail,
  request_id: requestId,
  ...(reason === undefined ? {} : { reason }),
  ...(retryAfterSeconds === undefined ? {} : { retry_after: Math.max(1, Math.ceil(retryAfterSeconds)) }),
  ...(errors === undefined ? {} : { errors }),
  ...(user_id === undefined ? {} : { user_id }),
});
