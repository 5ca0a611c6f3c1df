import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { handle as createUser } from '#functions/create-user.ts';
import { handle as listUsers } from '#functions/list-users.ts';
import { handle as sendOtp } from '#functions/send-otp.ts';
import type { Functions } from '#local/gateway/functions.ts';
import { tokenBuckets } from '#local/gateway/token-buckets.ts';
import { gateway } from '#local/gateway.ts';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { type BuyerStore, buyerStore } from '#shared/buyers/store.ts';
import type { Clock } from '#shared/clock.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { randomCode } from '#shared/one-time-codes/new-code.ts';
import { codeSends } from '#shared/one-time-codes/store.ts';
import type { CallOptions } from '#shared/providers/call.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { routes } from '#shared/routes.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { unlimitedPlans } from '#test/fakes/gateway-plans.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { createUserDepsOn, testHashes } from '#test/functions/create-user-deps.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { neverAborted } from '#test/shared/providers/failure.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { startSimulators } from '#test/simulators/server.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { itemsOf } from './stored-items.ts';

/** The sellers of the service. */
export const SELLERS = Array.from({ length: 20 }, (_, index) => `sel_${index}`);

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads JSON of any shape.
  readonly json: any;
  readonly text: string;
}

/** The providers that the functions call, and how. By default an attempt never times out, however slow the machine is. */
export interface Providers {
  readonly identity?: readonly string[];
  readonly sms?: readonly string[];
  readonly options?: Omit<CallOptions, 'clock'>;
}

/**
 * The functions that call providers, behind the gateway, over HTTP: the real handlers, stores and adapters, an embedded database, and
 * the simulators. Only the clock and the authorizer are replaced, so that a test can set the time and the seller.
 */
export const startMatrixService = async () => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const [table, simulators] = await Promise.all([startEmbeddedTable(), startSimulators(clock)]);
  await Promise.all(SELLERS.map((sellerId) => putSeller(table, sellerId)));
  const bindings: Bindings = { table, secret: fixedSecret(JSON.stringify(simulators.providerSecret)), clock };
  const functions = { authorizer: fakeAuthorizer, endpoints: bindEndpoints({}, bindings) };
  const server = await listen(functions, clock);
  const call = callerOf(`http://127.0.0.1:${server.port}`);

  return {
    clock,
    simulators,
    /** Makes the functions call these providers in later requests. */
    use(providers: Providers): void {
      functions.endpoints = bindEndpoints(providers, bindings);
    },
    call,
    newBuyer: newBuyers(buyerStore(table)),
    items: () => itemsOf(table),
    /** Returns the ids of all users of all sellers. */
    async userIds(): Promise<readonly string[]> {
      const pages = await Promise.all(
        SELLERS.map((sellerId) => call('/v1/users?page_size=100', undefined, sellerId)),
      );
      return pages.flatMap(({ json }) => json.data.map(({ id }: { id: string }) => id));
    },
    async stop() {
      await server.close();
      await simulators.close();
      await table.stop();
    },
  };
};

export type MatrixService = Awaited<ReturnType<typeof startMatrixService>>;

const putSeller = (table: Table, sellerId: string) =>
  table.client.send(
    new PutCommand({
      TableName: table.name,
      Item: { ...sellerKey(sellerId), user_count: 0, removed_count: 0, event_count: 0 },
    }),
  );

interface Bindings {
  readonly table: Table;
  readonly secret: ReturnType<typeof fixedSecret>;
  readonly clock: Clock;
}

/** Returns a function that creates a person whose phone is registered in the buyer app. */
const newBuyers = (buyers: BuyerStore) => {
  let people = 0;
  return async (nationalId?: string) => {
    people += 1;
    const serial = people;
    const phone = `+98999${String(serial).padStart(7, '0')}`;
    const { current: hash } = await testHashes.phone(phone);
    await buyers.register(hash, await testHashes.buyerId(phone), '2026-01-01T00:00:00.000Z');
    return {
      national_id: nationalId ?? completeNationalId(`999${String(serial).padStart(6, '0')}`),
      birth_date: '1370/1/5',
      phone,
      display_name: `Person ${serial}`,
    };
  };
};

/** Binds the endpoints to providers, with new circuits and new access tokens. */
const bindEndpoints = (
  { identity = ['jibit'], sms = ['kavenegar'], options = {} }: Providers,
  { table, secret, clock }: Bindings,
) => {
  const resilience = { retryPauseMs: () => 1, timeoutSignal: neverAborted, ...options, clock };
  const identityRegistry = identityRegistryFrom(identity, secret, resilience);
  const createDeps = createUserDepsOn(table, { clock, identityRegistry });
  const { rateLimiter, hashes } = createDeps;
  const sendDeps = {
    clock,
    rateLimiter,
    hashes,
    smsPerDay: undefined,
    codes: codeSends(table),
    sms: smsSenderFrom(sms, secret, resilience),
    newCode: randomCode,
    smsProvider: sms[0] ?? '',
  };
  return new Map<string, unknown>([
    ['create-user', keyedHandler(routes['create-user'], createUser, createDeps)],
    ['send-otp', keyedHandler(routes['send-otp'], sendOtp, sendDeps)],
    [
      'list-users',
      keyedHandler(routes['list-users'], listUsers, { clock, rateLimiter, hashes, users: userStore(table) }),
    ],
  ]);
};

/** Starts the gateway over the functions. */
const listen = (functions: object, clock: Clock) =>
  listenOnLoopback(
    0,
    gateway({
      functions: functions as Functions,
      usagePlans: unlimitedPlans,
      otpAccess: 'api-key',
      buckets: tokenBuckets(clock),
      clock,
      onCompleted: () => {},
    }),
  );

/** Authorizes any key, and takes it for the id of the seller. */
const fakeAuthorizer = async ({ headers }: APIGatewayRequestAuthorizerEvent) => {
  const sellerId = headers?.['X-Api-Key'] ?? headers?.['x-api-key'] ?? '';
  const plan: PlanName = 'professional';
  return {
    principalId: sellerId,
    usageIdentifierKey: plan,
    context: { sellerId, keyId: `key_of_${sellerId}`, plan, scopes: 'users:read users:write', expiresAt: '' },
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }],
    },
  };
};

/** Returns a client that calls the service as a seller: GET, or POST if there is a body. */
const callerOf =
  (url: string) =>
  async (path: string, body?: unknown, sellerId = SELLERS[0] ?? ''): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      headers: { 'X-Api-Key': sellerId, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: JSON.parse(text), text };
  };
