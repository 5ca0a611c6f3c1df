import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayRequestAuthorizerEvent,
  Context,
} from 'aws-lambda';
import type { Functions } from '#local/gateway/functions.ts';
import { type Completed, gateway } from '#local/gateway.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { OtpAccess } from '#shared/env.ts';
import { redirectLog } from '#shared/log.ts';
import { allRoutes } from '#shared/routes.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';

export const STAGE = 'arn:aws:execute-api:us-east-1:000000000000:local/local';

/** What a test changes: the authorizer, the function and the access mode. */
interface Setup {
  readonly authorize?: (event: APIGatewayRequestAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>;
  readonly handle?: (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;
  readonly otpAccess?: OtpAccess;
}

/** A decision about the methods of a policy. */
export const decisionOn = (
  Resource: string | string[],
  Effect: 'Allow' | 'Deny' = 'Allow',
): APIGatewayAuthorizerResult => ({
  principalId: 'key_1',
  usageIdentifierKey: 'usage-1',
  context: {
    sellerId: 'sel_1',
    scopes: 'users:read, events:read',
    count: 3,
    isGood: true,
    rateLimit: '"free";r=0;t=60',
    rateLimitPolicy: '"free";q=100;w=60',
  },
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }],
  },
});

/** The decision for a key that may call GET /v1/users. */
const allowList = async () => decisionOn(`${STAGE}/GET/v1/users`);

/** The state that a test reads: what reached the functions, what was reported and what was logged. */
interface Recorded {
  readonly events: APIGatewayProxyEvent[];
  readonly authorized: APIGatewayRequestAuthorizerEvent[];
  readonly completed: Completed[];
  readonly logged: string[];
}

const nothing = (): Recorded => ({ events: [], authorized: [], completed: [], logged: [] });

/** The gateway behind a server, with functions that record what they receive. It registers its own set-up and clean-up. */
export const useGateway = () => {
  const time = { nowMs: 0 };
  let recorded = nothing();
  let server: LoopbackServer | undefined;
  let flushes = 0;
  let restoreLog = (): void => {};

  const functionsOf = ({ authorize = allowList, handle }: Setup): Functions => {
    const handler = async (event: APIGatewayProxyEvent, context: Context) => {
      recorded.events.push(structuredClone(event));
      const result = await handle?.(event, context);
      return result ?? { statusCode: 200, headers: { 'X-Request-Id': 'f' }, body: '{}' };
    };
    return {
      authorizer: async (event: APIGatewayRequestAuthorizerEvent) => {
        recorded.authorized.push(event);
        return authorize(event);
      },
      endpoints: new Map(allRoutes.map(({ name }) => [name, handler])),
    } as unknown as Functions;
  };

  beforeEach(() => {
    recorded = nothing();
    time.nowMs = 0;
    restoreLog = redirectLog((line) => recorded.logged.push(line));
  });
  afterEach(async () => {
    restoreLog();
    await server?.close();
    server = undefined;
  });

  return {
    time,
    recorded: () => recorded,
    flush: () => {
      flushes += 1;
    },
    async start(setup: Setup = {}) {
      const { otpAccess = 'api-key' } = setup;
      const serve = gateway({
        functions: functionsOf(setup),
        flushes: async () => flushes,
        otpAccess,
        buildSite: async () => {},
        clock: () => time.nowMs,
        onCompleted: (one) => recorded.completed.push(one),
      });
      server = await listenOnLoopback(0, serve);
    },
    call: (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${server?.port}${path}`, init),
  };
};

export const withKey = (key = 'key'): RequestInit => ({ headers: { 'X-Api-Key': key } });

/** Checks the form of a problem and returns its code. */
export const problemOf = async (response: Response) => {
  const body = (await response.json()) as ProblemBody;
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-request-id')).toBe(body.request_id);
  expect(response.status).toBe(body.status);
  return body.code;
};
