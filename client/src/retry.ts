import { isProblemBody, retryAfterOf } from './problems.ts';

/** The limits of retries. Tests replace `sleep`, `random` and `fetch`. */
export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  /** A response with a longer Retry-After is thrown at once, as a ProblemError with `retryAfterSeconds`. */
  readonly maxWaitSeconds: number;
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly fetch: (request: Request) => Promise<Response>;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 8000;

const RETRYABLE_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

/**
 * Returns whether a request may be sent twice: reads, removals, and links, because linking the same buyer again returns the existing user. A
 * one-time code may not: after a timeout it is unknown whether the SMS was sent or the code was used.
 */
const isRepeatable = ({ method, url }: Request): boolean =>
  method === 'GET' || method === 'DELETE' || new URL(url).pathname.endsWith('/v1/users');

/** Returns whether a rate limit rejected the request before it changed anything. Such a request is always repeatable. */
const wasRateLimited = async (response: Response): Promise<boolean> => {
  if (response.status !== 429) return false;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return isProblemBody(body) && body.code === 'rate_limit_exceeded';
};

const isRetryable = async (request: Request, response: Response): Promise<boolean> =>
  isRepeatable(request) ? RETRYABLE_STATUSES.includes(response.status) : wasRateLimited(response);

/** Full jitter: a random time up to a bound that doubles with each retry. */
const backoffMs = (retry: number, random: () => number): number =>
  random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);

/** Returns a `fetch` that retries where that is safe and can help, and waits for Retry-After. */
export const retryingFetch =
  (policy: RetryPolicy) =>
  async (request: Request): Promise<Response> => {
    const attempt = () =>
      policy.fetch(
        new Request(request.clone(), {
          signal: AbortSignal.any([request.signal, AbortSignal.timeout(policy.timeoutMs)]),
        }),
      );

    /** Returns the milliseconds to wait before the next attempt; undefined if there is none. */
    const waitAfter = async (outcome: Response | undefined, retry: number): Promise<number | undefined> => {
      if (retry >= policy.maxRetries || request.signal.aborted) return undefined;
      if (outcome === undefined) return isRepeatable(request) ? backoffMs(retry, policy.random) : undefined;
      if (!(await isRetryable(request, outcome))) return undefined;
      const seconds = retryAfterOf(outcome);
      if (seconds === undefined) return backoffMs(retry, policy.random);
      return seconds <= policy.maxWaitSeconds ? seconds * 1000 : undefined;
    };

    for (let retry = 0; ; retry += 1) {
      let response: Response | undefined;
      let failure: unknown;
      try {
        response = await attempt();
      } catch (error) {
        failure = error;
      }
      const waitMs = await waitAfter(response, retry);
      if (waitMs === undefined) {
        if (response === undefined) throw failure;
        return response;
      }
      await response?.body?.cancel();
      await policy.sleep(waitMs, request.signal);
    }
  };
