import type { paths } from './generated/openapi.ts';
import { errorOf, isTimeout, noResponse, type ProblemCode, ProblemError, retryAfterOf } from './problems.ts';

/** A wait before the next attempt. */
export interface Wait {
  /** How long the client waits. */
  readonly waitMs: number;
  /** Why: the code of the error response; undefined after a network error, a timeout or a response that is not from the service. */
  readonly code: ProblemCode | undefined;
  /** The number of the next attempt among the retries, from 1 to `maxRetries`. */
  readonly retry: number;
}

/** The limits of retries. Tests replace `sleep`, `random` and `fetch`. */
export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  /**
   * The longest sum of the waits of one request. Left out: 3, and neither a 429 nor a timeout is retried, so that the caller, which may
   * be a web request, has the error soon.
   */
  readonly maxWaitSeconds?: number | undefined;
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  /** Called before each wait. Default: writes it with console.warn. */
  readonly onWait: (wait: Wait) => void;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Two waits of a Retry-After of 1 with their jitter. */
const DEFAULT_MAX_WAIT_SECONDS = 3;

/** Clients that were refused together do not come back together. */
const MAX_JITTER_MS = 500;

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 8000;

const RETRYABLE_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

type Operation = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} ${keyof paths & string}`;

/**
 * The operations that may not be sent twice: after a timeout it is unknown whether the SMS was sent, the code was used or the secret was
 * made. A test compares the list with the service.
 */
const NOT_REPEATABLE: readonly Operation[] = [
  'POST /v1/auth/otp/send',
  'POST /v1/auth/otp/verify',
  'POST /v1/key/secrets',
];

/** Matches the requests of an operation: a base URL may put a stage before the path, a path parameter has any value. */
const patternOf = (operation: Operation): RegExp =>
  new RegExp(`^${operation.replace(' ', ' .*').replace(/\{\w+\}/g, '[^/]+')}$`);

const isRepeatable = ({ method, url }: Request): boolean =>
  !NOT_REPEATABLE.some((operation) => patternOf(operation).test(`${method} ${new URL(url).pathname}`));

/** A failed attempt. Without a response the connection failed, or the attempt took too long. */
interface Failure {
  readonly error: unknown;
  readonly response: Response | undefined;
}

const codeOf = ({ error }: Failure): ProblemCode | undefined =>
  error instanceof ProblemError ? error.code : undefined;

/** Returns whether another attempt is safe and can help. A rate limit rejects a request before it changes anything. */
const isRetryable = (request: Request, failure: Failure): boolean => {
  const code = codeOf(failure);
  if (!isRepeatable(request)) return code === 'rate_limit_exceeded';
  // Each attempt of a link or a check without a verdict can be another paid check.
  if (code === 'verification_unavailable') return false;
  return failure.response === undefined || RETRYABLE_STATUSES.includes(failure.response.status);
};

/** Returns whether the next attempt can take long: as long as this one, or until a limit has a new window. */
const isSlow = ({ response, error }: Failure): boolean =>
  response === undefined ? isTimeout(error) : response.status === 429;

/** Full jitter: a random time up to a bound that doubles with each retry. */
const backoffMs = (retry: number, random: () => number): number =>
  random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);

/** Returns a `fetch` that retries where that is safe and can help, and waits for Retry-After. It throws every error response. */
export const retryingFetch = (policy: RetryPolicy) => {
  /** Returns a success, or what failed. A redirect fails: it would take the key and the body to another address. */
  const attempt = async (request: Request): Promise<Response | Failure> => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(policy.timeoutMs)]);
    try {
      const response = await policy.fetch(new Request(request.clone(), { signal, redirect: 'manual' }));
      if (!response.ok) return { error: await errorOf(request, response), response };
      // Reads the whole body: the connection can be lost in the middle of it.
      await response.clone().arrayBuffer();
      return response;
    } catch (error) {
      return { error: request.signal.aborted ? error : noResponse(request, error), response: undefined };
    }
  };

  /** Returns the next wait; undefined if there is no other attempt. `retry` counts the retries so far. */
  const waitAfter = (request: Request, failure: Failure, retry: number): Wait | undefined => {
    if (retry >= policy.maxRetries || request.signal.aborted) return undefined;
    if (!isRetryable(request, failure)) return undefined;
    if (policy.maxWaitSeconds === undefined && isSlow(failure)) return undefined;
    const seconds = failure.response && retryAfterOf(failure.response);
    const waitMs =
      seconds === undefined
        ? backoffMs(retry, policy.random)
        : seconds * 1000 + policy.random() * MAX_JITTER_MS;
    return { waitMs, code: codeOf(failure), retry: retry + 1 };
  };

  return async (request: Request): Promise<Response> => {
    let leftMs = 1000 * (policy.maxWaitSeconds ?? DEFAULT_MAX_WAIT_SECONDS);
    for (let retry = 0; ; retry += 1) {
      const result = await attempt(request);
      if (!('error' in result)) return result;
      const wait = waitAfter(request, result, retry);
      if (wait === undefined || wait.waitMs > leftMs) throw result.error;
      leftMs -= wait.waitMs;
      policy.onWait(wait);
      await policy.sleep(wait.waitMs, request.signal);
    }
  };
};
