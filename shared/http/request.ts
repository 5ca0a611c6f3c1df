import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { VerifiedBuyer } from '#shared/access-tokens/verify.ts';
import type { Caller } from '#shared/api-keys/caller.ts';
import { deadlineIn } from '#shared/deadline.ts';
import type { CountedRequest } from '#shared/rate-limits/request-limits.ts';
import type { RequestContext } from '#shared/request-context.ts';
import type { Route } from '#shared/route.ts';

interface GatewayEvent {
  readonly headers: Readonly<Record<string, string | undefined>> | null;
  readonly requestContext: { readonly requestId: string; readonly extendedRequestId?: string | undefined };
}

/** The id that callers see in X-Request-Id. A caller can set `requestId` by a header, but not the extended one. */
export const requestIdOf = ({ requestContext }: Pick<GatewayEvent, 'requestContext'>): string =>
  requestContext.extendedRequestId ?? requestContext.requestId;

/** `name` is in lower case. */
export const headerOf = ({ headers }: Pick<GatewayEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([sent]) => sent.toLowerCase() === name)?.[1];

/** A request from the event to its response. Its caller, buyer and count are set on the way to the handler. */
export interface RequestScope extends RequestContext {
  /** False on a row under /v1, however its path was sent. */
  readonly mayBeStored: boolean;
  readonly startedAtMonotonicMs: number;
  /** Undefined on a row that takes no key, and until the caller is known. */
  caller?: Caller;
  /** Epoch seconds; only if the key of the caller expires soon. */
  keyExpiresSoonAt?: number | undefined;
  buyer?: VerifiedBuyer;
  /** The count beside the handler of a GET. */
  counting?: Promise<CountedRequest | undefined>;
  /** Undefined until the request is counted, and if it could not be. */
  counted?: CountedRequest | undefined;
}

/** Reserved from the function's timeout for the response and its log line. */
export const RESERVE_MS = 500;

/** The deadline of a row that names none. A database that hangs must not keep a caller waiting. */
const DEADLINE_SECONDS = 3;

export const openScope = (
  { name, path, deadlineSeconds = DEADLINE_SECONDS }: Route,
  event: APIGatewayProxyEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): RequestScope => {
  const leftMs = Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
  const timeMs = Math.min(leftMs, deadlineSeconds * 1000);
  return {
    operation: name,
    mayBeStored: !path.startsWith('/v1/'),
    requestId: requestIdOf(event),
    deadline: deadlineIn(timeMs),
    calls: [],
    startedAtMonotonicMs: performance.now(),
  };
};
