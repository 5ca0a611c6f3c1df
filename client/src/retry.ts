import { isProblemBody, retryAfterOf } from './problems.ts';

/** How often and how long a request is tried. Clock and chance can be replaced in tests. */
export interface RetryPolicy {
  /** Tries after the first one. */
  readonly maxRetries: number;
  /** A longer Retry-After is not waited for: the refusal is thrown at once, and says how long. */
  readonly maxWaitSeconds: number;
  /** The bound of each try. */
  readonly timeoutMs: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly fetch: (request: Request) => Promise<Response>;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 8000;

const PASSING_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

/**
 * Requests that may be sent twice: reads, and linking, because linking the same buyer again gives the existing user. A one-time code
 * may not: after a time-out nobody knows whether the SMS went out, or the code was used.
 */
const isRepeatable = ({ method, url }: Request): boolean =>
  method === 'GET' || new URL(url).pathname.endsWith('/v1/users');

/** Refused by the plan's limit before anything was done: repeatable whatever the request is. */
const wasNotServed = async (response: Response): Promise<boolean> => {
  if (response.status !== 429) return false;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return isProblemBody(body) && body.code === 'rate_limit_exceeded';
};

const mayPass = async (request: Request, response: Response): Promise<boolean> =>
  isRepeatable(request) ? PASSING_STATUSES.includes(response.status) : wasNotServed(response);

/** Full jitter: any time up to a bound that doubles. */
const backoffMs = (retry: number, random: () => number): number =>
  random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);

/** `fetch` that tries again where that is safe and may help, and waits as long as Retry-After says. */
export const retryingFetch =
  (policy: RetryPolicy) =>
  async (request: Request): Promise<Response> => {
    const attempt = () =>
      policy.fetch(
        new Request(request.clone(), {
          signal: AbortSignal.any([request.signal, AbortSignal.timeout(policy.timeoutMs)]),
        }),
      );

    /** Milliseconds to wait before the next try; undefined if there is to be none. */
    const waitAfter = async (outcome: Response | undefined, retry: number): Promise<number | undefined> => {
      if (retry >= policy.maxRetries || request.signal.aborted) return undefined;
      if (outcome === undefined) return isRepeatable(request) ? backoffMs(retry, policy.random) : undefined;
      if (!(await mayPass(request, outcome))) return undefined;
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
