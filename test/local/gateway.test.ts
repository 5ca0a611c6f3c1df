import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayRequestAuthorizerEvent,
  Context,
} from 'aws-lambda';
import { type Functions, FunctionTimeout, invoke } from '#local/gateway/functions.ts';
import { MAX_BODY_BYTES } from '#local/gateway/request-body.ts';
import { type Completed, gateway } from '#local/gateway.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { OtpAccess } from '#shared/env.ts';
import { redirectLog } from '#shared/log.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { allRoutes } from '#shared/routes.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';

const STAGE = 'arn:aws:execute-api:us-east-1:000000000000:local/local';

interface Setup {
  readonly authorize?: (event: APIGatewayRequestAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>;
  readonly handle?: (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;
  readonly inPlan?: boolean;
  readonly otpAccess?: OtpAccess;
}

const allowAll = async (): Promise<APIGatewayAuthorizerResult> => ({
  principalId: 'key_1',
  usageIdentifierKey: 'usage-1',
  context: {
    sellerId: 'sel_1',
    count: 3,
    isGood: true,
    rateLimit: '"free";r=0;t=60',
    rateLimitPolicy: '"free";q=100;w=60',
  },
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: `${STAGE}/GET/v1/users` }],
  },
});

let server: LoopbackServer;
let events: APIGatewayProxyEvent[];
let authorized: APIGatewayRequestAuthorizerEvent[];
let completed: Completed[];
let logged: string[];
let usedUsageIds: string[];
let flush: () => void;
let restoreLog: () => void;
const time = { nowMs: 0 };

const start = async ({ authorize = allowAll, handle, inPlan = true, otpAccess = 'api-key' }: Setup = {}) => {
  const handler = async (event: APIGatewayProxyEvent, context: Context) => {
    events.push(structuredClone(event));
    return (
      (await handle?.(event, context)) ?? { statusCode: 200, headers: { 'X-Request-Id': 'f' }, body: '{}' }
    );
  };
  const functions = {
    authorizer: async (event: APIGatewayRequestAuthorizerEvent) => {
      authorized.push(event);
      return authorize(event);
    },
    endpoints: new Map(allRoutes.map(({ name }) => [name, handler])),
  } as unknown as Functions;
  const serve = gateway({
    functions,
    usagePlanKeys: {
      planOf: () => (inPlan ? { plan: 'free', ...usagePlanThrottle('free') } : undefined),
      recordUse: (usageId) => usedUsageIds.push(usageId),
      onFlush: (listener) => {
        flush = listener;
      },
    },
    otpAccess,
    clock: () => time.nowMs,
    onCompleted: (one) => completed.push(one),
  });
  server = await listenOnLoopback(0, serve);
};

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init);

const withKey = (key = 'key'): RequestInit => ({ headers: { 'X-Api-Key': key } });

const problemOf = async (response: Response) => {
  const body = (await response.json()) as ProblemBody;
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-request-id')).toBe(body.request_id);
  expect(response.status).toBe(body.status);
  return body.code;
};

beforeEach(() => {
  events = [];
  authorized = [];
  completed = [];
  logged = [];
  usedUsageIds = [];
  time.nowMs = 0;
  restoreLog = redirectLog((line) => logged.push(line));
});

afterEach(async () => {
  restoreLog();
  await server.close();
});

describe('the event', () => {
  it('is that of a REST proxy, with every value of headers and query', async () => {
    await start();
    await call('/v1/users?page=1&page=2&q=a%20b&__proto__=x', {
      headers: { 'X-Api-Key': 'key', 'X-Two': 'b' },
    });
    expect(events[0]).toMatchObject({
      resource: '/v1/users',
      path: '/v1/users',
      httpMethod: 'GET',
      pathParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        httpMethod: 'GET',
        path: '/v1/users',
        resourcePath: '/v1/users',
        identity: { sourceIp: '127.0.0.1' },
        authorizer: { sellerId: 'sel_1', count: '3', isGood: 'true', principalId: 'key_1' },
      },
    });
    expect(Object.entries(events[0]?.queryStringParameters ?? {})).toEqual([
      ['page', '2'],
      ['q', 'a b'],
      ['__proto__', 'x'],
    ]);
    expect(events[0]?.multiValueQueryStringParameters?.page).toEqual(['1', '2']);
    expect(events[0]?.headers['X-Two'] ?? events[0]?.headers['x-two']).toBe('b');
  });

  it('has null for a query and a body that are not there', async () => {
    await start();
    await call('/v1/users', withKey());
    expect(events[0]?.queryStringParameters).toBeNull();
    expect(events[0]?.multiValueQueryStringParameters).toBeNull();
    expect(events[0]?.body).toBeNull();
  });

  it('is a fresh one for each request', async () => {
    await start({
      handle: async (event) => {
        (event as { body: unknown }).body = 'changed';
        (event.requestContext.authorizer as Record<string, string>).sellerId = 'changed';
        return undefined;
      },
    });
    await call('/v1/users', withKey());
    await call('/v1/users', withKey());
    expect(events[1]?.requestContext.authorizer?.sellerId).toBe('sel_1');
  });
});

describe('401', () => {
  it('does not ask the authorizer about a key that is missing or empty', async () => {
    await start();
    expect(await problemOf(await call('/v1/users'))).toBe('invalid_api_key');
    expect(await problemOf(await call('/v1/users', withKey('')))).toBe('invalid_api_key');
    expect(authorized).toHaveLength(0);
  });

  it('is the answer to "Unauthorized", each time anew', async () => {
    await start({ authorize: () => Promise.reject(new Error('Unauthorized')) });
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('invalid_api_key');
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('invalid_api_key');
    expect(authorized).toHaveLength(2);
    expect(logged).toHaveLength(0);
  });

  it('is the answer to a usage id that is in no plan', async () => {
    await start({ inPlan: false });
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('invalid_api_key');
    expect(usedUsageIds).toHaveLength(0);
  });
});

describe('403', () => {
  it('is the answer to a method that the policy does not allow, from the cache too', async () => {
    await start();
    await call('/v1/users', withKey());
    expect(await problemOf(await call('/v1/users', { ...withKey(), method: 'POST', body: '{}' }))).toBe(
      'insufficient_scope',
    );
    expect(authorized).toHaveLength(1);
    expect(usedUsageIds).toEqual(['usage-1']);
  });
});

describe('the authorizer’s cache', () => {
  it('keeps a result for 300 seconds, or until it is flushed', async () => {
    await start();
    await call('/v1/users', withKey());
    time.nowMs = 299_999;
    await call('/v1/users', withKey());
    expect(authorized).toHaveLength(1);
    time.nowMs = 300_000;
    await call('/v1/users', withKey());
    expect(authorized).toHaveLength(2);
    flush();
    await call('/v1/users', withKey());
    expect(authorized).toHaveLength(3);
  });
});

describe('429', () => {
  it('comes from an empty bucket, with what the authorizer said of the plan', async () => {
    await start();
    const replies = await Promise.all(Array.from({ length: 201 }, () => call('/v1/users', withKey())));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    const [reply] = refused as [Response];
    expect(await problemOf(reply)).toBe('rate_limit_exceeded');
    expect(reply.headers.get('retry-after')).toBe('60');
    expect(reply.headers.get('ratelimit')).toBe('"free";r=0;t=60');
    expect(reply.headers.get('ratelimit-policy')).toBe('"free";q=100;w=60');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(usedUsageIds).toHaveLength(200);
  });

  it('stands in by address for the plan where the one-time-code operations take no key', async () => {
    await start({ otpAccess: 'public' });
    const send = () => call('/v1/auth/otp/send', { method: 'POST', body: '{}' });
    const replies = await Promise.all(Array.from({ length: 101 }, send));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    expect(await problemOf(refused[0] as Response)).toBe('rate_limit_exceeded');
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe('"address";q=100;w=60');
    expect(authorized).toHaveLength(0);
    expect(events.every(({ requestContext }) => requestContext.authorizer === undefined)).toBe(true);
  });
});

describe('404', () => {
  it.each([
    ['/v1', 'no-store'],
    ['/v1/nothing', 'no-store'],
    ['/v10', null],
  ])('of %s is told to caches as of a path under /v1 or not', async (path, cacheControl) => {
    await start();
    const reply = await call(path);
    expect(await problemOf(reply)).toBe('not_found');
    expect(reply.headers.get('cache-control')).toBe(cacheControl);
  });
});

describe('a body over the limit', () => {
  it('is malformed, once the key was judged, and reaches no function', async () => {
    await start();
    const body = Buffer.alloc(MAX_BODY_BYTES + 1, 'x');
    expect(await problemOf(await call('/v1/users', { method: 'POST', body }))).toBe('invalid_api_key');
    expect(await problemOf(await call('/nothing', { method: 'POST', body }))).toBe('not_found');
    server.close();
    await start({ otpAccess: 'public' });
    expect(await problemOf(await call('/v1/auth/otp/send', { method: 'POST', body }))).toBe('malformed_json');
    expect(events).toHaveLength(0);
  });
});

describe('500', () => {
  it.each([
    ['an authorizer that fails', { authorize: () => Promise.reject(new Error('no table')) }],
    ['a function that fails', { handle: () => Promise.reject(new Error('no table')) }],
    ['a function that answers nonsense', { handle: async () => ({}) }],
  ] as const)('is the answer to %s, and the log says why', async (_what, setup) => {
    await start(setup);
    expect(await problemOf(await call('/v1/users', withKey()))).toBe('internal');
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({ event: 'request_failed', operation: 'list-users' });
  });
});

describe('invoke', () => {
  const limits = { requestId: 'r', timeoutSeconds: 0.05, memoryMb: 128 };

  it('gives a function no longer than its row says', async () => {
    await start();
    const never = () => new Promise<never>(() => {});
    await expect(invoke('slow', never, {}, limits)).rejects.toThrow(FunctionTimeout);
  });

  it('tells it how much time is left', async () => {
    await start();
    const left = await invoke(
      'fast',
      async (_event, context) => context.getRemainingTimeInMillis(),
      {},
      limits,
    );
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(50);
  });
});

describe('onCompleted', () => {
  it('is told each request, without anything that was sent', async () => {
    await start();
    await call('/v1/users?phone=09559876543', withKey());
    await call('/09559876543', withKey());
    expect(completed).toMatchObject([
      { method: 'GET', route: { name: 'list-users' }, status: 200 },
      { method: 'GET', route: undefined, status: 404 },
    ]);
    expect(JSON.stringify(completed).includes('9559876543')).toBe(false);
  });
});
