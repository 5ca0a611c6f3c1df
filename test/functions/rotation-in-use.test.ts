/** A rotation while several clients use the key: the authorizer, its cache, the gateway and the endpoint together, at a clock that the test sets. */
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { authorize } from '#functions/authorizer.ts';
import { handle as getKey } from '#functions/get-key.ts';
import type { Functions } from '#local/gateway/functions.ts';
import { gateway } from '#local/gateway.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import { ownKeyReader } from '#shared/api-keys/own-key.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { keyedHandler } from './keyed-handler.ts';
import { type OwnKey, useOwnKey } from './own-key-under-test.ts';

const CLIENTS = 3;
const GRACE_SECONDS = 3600;

/** The longest time of a decision: longer than any machine is slow. */
const TIMEOUT_MS = 20_000;

const newOwnKey = useOwnKey();
let server: LoopbackServer;
let own: OwnKey;
let authorized = 0;
let restoreLog: () => void;

const functionsOf = ({ administration: { table: on, clock } }: OwnKey): Functions => {
  const deps = { clock, rateLimiter: limiterOn(on), keys: { read: ownKeyReader(on) } };
  const decision = { secrets: keySecretStore(on), keyPrefix: 'blk_test_', clock } as const;
  return {
    authorizer: (event: APIGatewayRequestAuthorizerEvent) => {
      authorized += 1;
      return authorize(event, decision, TIMEOUT_MS);
    },
    endpoints: new Map([['get-key', keyedHandler(routes['get-key'], getKey, deps)]]),
  } as unknown as Functions;
};

beforeAll(async () => {
  restoreLog = redirectLog(() => {});
  own = await newOwnKey({ plan: 'professional' });
  const serve = gateway({
    functions: functionsOf(own),
    flushes: async () => 0,
    otpAccess: 'api-key',
    buildSite: async () => {},
    clock: own.administration.clock,
    onCompleted: () => {},
  });
  server = await listenOnLoopback(0, serve);
});
afterAll(async () => {
  restoreLog();
  await server.close();
});

/** One request of each client with this secret, all at once. Returns the statuses that they got. */
const statuses = async (secret: string): Promise<number[]> => {
  const send = () => fetch(`http://127.0.0.1:${server.port}/v1/key`, { headers: { 'X-Api-Key': secret } });
  const replies = await Promise.all(Array.from({ length: CLIENTS }, send));
  return [...new Set(replies.map(({ status }) => status))];
};

it('fails no request of clients that use both secrets, and refuses the old one from its end on, to the second', async () => {
  const { clock } = own.administration;
  const { secret: old } = own.issued;
  // The decision on the old secret is cached from now on, without an end.
  expect(await statuses(old)).toEqual([200]);
  const rotation = own.rotateKey().call({ authorizer: own.authorizer, body: { grace_hours: 1 } });
  const [during, { json }] = await Promise.all([statuses(old), rotation]);
  expect(during).toEqual([200]);

  let elapsed = 0;
  for (const seconds of [0, 299, 300, GRACE_SECONDS - 299, GRACE_SECONDS - 1]) {
    clock.advance(seconds - elapsed);
    elapsed = seconds;
    expect([seconds, ...(await Promise.all([statuses(old), statuses(json.secret)]))]).toEqual([
      seconds,
      [200],
      [200],
    ]);
  }

  const decisionsBefore = authorized;
  clock.advance(1);
  expect(await Promise.all([statuses(old), statuses(json.secret)])).toEqual([[401], [200]]);
  // The decision on the old secret was cached: the endpoint refused it by the end in its context.
  expect(authorized).toBe(decisionsBefore);
});
