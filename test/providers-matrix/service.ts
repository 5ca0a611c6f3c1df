import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { type CreateUserDeps, handle as createUser } from '#functions/create-user.ts';
import { handle as listUsers } from '#functions/list-users.ts';
import { type SendOtpDeps, handle as sendOtp } from '#functions/send-otp.ts';
import type { Functions } from '#local/gateway/functions.ts';
import { gateway } from '#local/gateway.ts';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { type Simulators, startSimulators } from '#local/simulators/server.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { randomIds } from '#shared/ids.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import type { ResilienceOptions } from '#shared/providers/resilient.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { completeNationalId } from '#shared/users/national-id.ts';
import { userStore } from '#shared/users/store.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';

const SELLER = 'sel_matrix';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back.
  readonly json: any;
  readonly text: string;
}

/** Which providers the functions ask, and how patiently. */
export interface Providers {
  readonly identity?: readonly string[];
  readonly sms?: readonly string[];
  readonly options?: Omit<ResilienceOptions, 'clock'>;
}

/**
 * The functions that call providers, behind the gateway, over HTTP: real handlers, stores and adapters, an embedded database, and the
 * simulators at the other end. Only the clock is moved by hand, and the key is judged by a stand-in, so that a test can name the plan.
 */
export const startMatrixService = async () => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const [table, simulators] = await Promise.all([startEmbeddedTable(), startSimulators(clock)]);
  const secret = fixedSecret(JSON.stringify(simulators.providerSecret));
  const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));
  const shared = { clock, rateLimiter: rateLimiter(table), hashes, ids: randomIds };
  const stores = { users: userStore(table), buyers: buyerStore(table), codes: codeStore(table) };
  await table.client.send(
    new PutCommand({ TableName: table.name, Item: { ...sellerKey(SELLER), user_count: 0 } }),
  );

  const endpoints = new Map<string, unknown>();
  /** Binds the functions anew: with new circuits and new access tokens. */
  const use = ({ identity = ['jibit'], sms = ['kavenegar'], options = {} }: Providers = {}): void => {
    const resilience = { retryPauseMs: () => 1, ...options, clock };
    const createDeps: CreateUserDeps = {
      ...shared,
      ...stores,
      identityRegistry: identityRegistryFrom(identity, secret, resilience),
    };
    const sendDeps: SendOtpDeps = { ...shared, ...stores, sms: smsSenderFrom(sms, secret, resilience) };
    endpoints.set(
      'create-user',
      endpoint(routes['create-user'], createUser, () => createDeps),
    );
    endpoints.set(
      'send-otp',
      endpoint(routes['send-otp'], sendOtp, () => sendDeps),
    );
    endpoints.set(
      'list-users',
      endpoint(routes['list-users'], listUsers, () => ({ ...shared, ...stores })),
    );
  };
  use();

  const server = await listenOnLoopback(
    0,
    gateway({
      functions: { authorizer: standInAuthorizer, endpoints } as unknown as Functions,
      usagePlanKeys: {
        planOf: (plan) => ({ plan: plan as PlanName, rateLimit: 1e6, burstLimit: 1e6 }),
        recordUse: () => {},
        onFlush: () => {},
      },
      otpAccess: 'api-key',
      clock,
      onCompleted: () => {},
    }),
  );
  const url = `http://127.0.0.1:${server.port}`;

  /** The key says who calls: `<plan>:<key id>`. */
  const call = async (path: string, body?: unknown, key = 'professional:key_matrix'): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: JSON.parse(text), text };
  };

  let people = 0;
  return {
    clock,
    simulators: simulators as Simulators,
    use,
    call,
    /** A person whose phone is registered in the buyer app; or another national id with such a phone. */
    async newBuyer(nationalId?: string) {
      people += 1;
      const serial = people;
      const phone = `+98999${String(serial).padStart(7, '0')}`;
      const [hash] = await hashes.phone(phone);
      await stores.buyers.register(hash, await hashes.buyerId(phone), '2026-01-01T00:00:00.000Z');
      return {
        national_id: nationalId ?? completeNationalId(`999${String(serial).padStart(6, '0')}`),
        birth_date: '1370/1/5',
        phone,
        display_name: `Person ${serial}`,
      };
    },
    /** Every item but the rate limiter counts, in a fixed order. */
    async items(): Promise<readonly string[]> {
      const items: string[] = [];
      let from: Record<string, unknown> | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await table.client.send(
          new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey: from }),
        );
        const lasting = Items.filter(({ sk }) => sk !== 'LIMIT');
        items.push(...lasting.map((item) => JSON.stringify(Object.entries(item).sort())));
        from = LastEvaluatedKey;
      } while (from !== undefined);
      return items.sort();
    },
    /** All users of the seller, oldest link first. */
    listAll: async () => {
      const { users } = await stores.users.listPage(SELLER, 1, 1000);
      return users;
    },
    countUsers: () => stores.users.countUsers(SELLER),
    async stop() {
      await server.close();
      await simulators.close();
      await table.stop();
    },
  };
};

export type MatrixService = Awaited<ReturnType<typeof startMatrixService>>;

const standInAuthorizer = async ({ headers }: APIGatewayRequestAuthorizerEvent) => {
  const [plan = '', keyId = ''] = (headers?.['X-Api-Key'] ?? headers?.['x-api-key'] ?? '').split(':');
  return {
    principalId: keyId,
    usageIdentifierKey: plan,
    context: { sellerId: SELLER, keyId, plan, scopes: 'users:read users:write', expiresAt: '' },
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: '*' }],
    },
  };
};
