import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import type { VerifyToken } from '#shared/access-tokens/verify.ts';
import type { OtpAccess } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import type { Route } from '#shared/route.ts';
import type { Table } from '#shared/table/client.ts';
import '#test/slow-time.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { withoutOpenWrites } from '#test/table/embedded-table.ts';
import { keyedHandler } from './keyed-handler.ts';

/** The parts of the event that a test can set. */
export interface Call {
  readonly body?: unknown;
  /** The body as text. */
  readonly rawBody?: string | null;
  readonly query?: Readonly<Record<string, string | string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: Readonly<Record<string, string>>;
  /** The path as it was sent; by default that of the row. */
  readonly sentPath?: string;
  /** The authorizer's context; null for a request without an authorizer. */
  readonly authorizer?: Readonly<Record<string, string>> | null;
  readonly timeLeftMs?: number;
  /** The id that the caller gets in X-Request-Id. */
  readonly requestId?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any JSON of the response; undefined for an empty body.
  readonly json: any;
}

/** The authorizer's context of a professional key with every scope. It ends, but not soon. */
export const callerContext = {
  sellerId: 'sel_test',
  keyId: 'key_test',
  plan: 'professional',
  scopes: 'users:read users:write buyers:register',
  expiresAt: String(Date.parse('2027-03-01T04:05:06Z') / 1000),
} as const;

const eventOf = (route: Route, call: Call): APIGatewayProxyEvent => {
  const multi = Object.fromEntries(
    Object.entries(call.query ?? {}).map(([name, value]) => [name, [value].flat()]),
  );
  const authorizer = call.authorizer === undefined ? callerContext : call.authorizer;
  return {
    httpMethod: route.method,
    path: call.sentPath ?? route.path,
    pathParameters: call.path ?? null,
    headers: { 'content-type': 'application/json', ...call.headers },
    multiValueQueryStringParameters: call.query === undefined ? null : multi,
    body:
      call.rawBody === undefined
        ? call.body === undefined
          ? null
          : JSON.stringify(call.body)
        : call.rawBody,
    isBase64Encoded: false,
    requestContext: {
      requestId: 'chosen-by-the-caller',
      extendedRequestId: call.requestId ?? 'req-1',
      ...(authorizer === null ? {} : { authorizer }),
    },
  } as unknown as APIGatewayProxyEvent;
};

const contextOf = (timeLeftMs: number): Context =>
  ({ getRemainingTimeInMillis: () => timeLeftMs }) as unknown as Context;

/** The log target before the first function under test. Restored when the test file ends. */
let restoreLog: (() => void) | undefined;
afterAll(() => restoreLog?.());

/** A function under test: its real handler in the real middy stack, with a real table and a clock that the test sets. */
export const functionUnderTest = <R extends Route, Deps>(
  route: R,
  handle: Handle<R, Deps>,
  table: Table,
  own: Omit<Deps, keyof KeyedParts> &
    Partial<KeyedParts> & { readonly otpAccess?: OtpAccess; readonly verifyToken?: VerifyToken },
) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const rateLimiter = route.access.by === 'public' ? undefined : limiterOn(table);
  const handler = keyedHandler(route, handle, { clock, rateLimiter, ...own } as never);
  const lines: string[] = [];
  const restore = redirectLog((line) => lines.push(line));
  restoreLog ??= restore;
  return {
    clock,
    /** The log lines of all calls. */
    lines,
    async call(call: Call = {}): Promise<Reply> {
      const { statusCode, headers, body } = await withoutOpenWrites(() =>
        handler(eventOf(route, call), contextOf(call.timeLeftMs ?? 15_000)),
      );
      return {
        status: statusCode,
        headers: headers as Record<string, string>,
        json: body === '' ? undefined : JSON.parse(body),
      };
    },
  };
};
