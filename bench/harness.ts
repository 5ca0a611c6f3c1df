import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { putAll } from '#admin/stores/batches.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { DeployedVariable } from '#lib/grants.ts';
import { ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { authorizerEvent, proxyEvent, type ReceivedRequest } from '#local/gateway/proxy-event.ts';
import { type RouteMatch, router } from '#local/gateway/router.ts';
import { allRoutes } from '#shared/routes.ts';
import { openTable } from '#shared/table/client.ts';
import { eventKey, removalBlockKey, removalSummaryKey, sellerKey, userKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { blockOf, withCounted, withRemoved } from '#shared/users/removals.ts';
import { userIdAt } from '#shared/users/user-id.ts';

/** What the benchmarks share: the environment of the functions, their events, and sellers with users in a database. */

/** The folder of this checkout. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const TABLE_NAME = 'buyer-linking-bench';

type OptionalVariable =
  | 'PAID_CHECKS_PER_DAY'
  | 'SMS_PER_DAY'
  | 'SUPPORT_EMAIL'
  | 'STATUS_URL'
  | 'METRIC_NAMESPACE';
type Variable = Exclude<DeployedVariable, OptionalVariable> | 'PAGES_FOLDER';

/** The environment variables that the stacks set for the functions, and where the pages are, which a bundle has beside it. */
export const VARIABLES: Readonly<Record<Variable, string>> = {
  TABLE_NAME,
  HASH_SECRET: 'hash-secret',
  PROVIDER_SECRET: 'provider-secret',
  IDENTITY_PROVIDERS: 'jibit,zohal',
  SMS_PROVIDERS: 'kavenegar,sms-ir',
  SIGNING_KEYS: 'signing-key',
  TOKEN_ISSUERS: 'https://bench.example',
  KEY_PREFIX: 'blk_test_',
  OTP_ACCESS: 'api-key',
  RELEASE_VERSION: '1.0.0',
  RELEASE_COMMIT: 'bench',
  PAGES_FOLDER: join(ROOT, 'node_modules', '.cache', 'bench-pages'),
};

/** A function as Lambda calls it. The result of the authorizer is a policy, which has no status. */
export type Handler = (event: object, context: object) => Promise<APIGatewayProxyResult>;

/** The context that Lambda passes to a function, as far as the functions read it. */
export const CONTEXT = { getRemainingTimeInMillis: () => 20_000 };

const findRoute = router(allRoutes);

/** Returns the name of the function that serves a method and a path. */
export const functionOf = (method: string, path: string): string => findRoute(method, path)?.route.name ?? '';

/** Who sends a request. Each key id has its own rate limits. */
export interface Sender {
  readonly sellerId: string;
  readonly keyId?: string;
  readonly apiKey?: string;
  /** The access token of a buyer. */
  readonly token?: string;
}

/** What is sent: `target` is the path with the query. */
interface Sent {
  readonly method: string;
  readonly target: string;
  readonly body?: object | undefined;
}

/** Returns a request as the gateway receives it, and its route. */
const receive = ({ method, target, body }: Sent, sender: Sender) => {
  const [path = '', query = ''] = target.split('?');
  const { apiKey = '', token } = sender;
  const request: ReceivedRequest = {
    extendedRequestId: randomUUID(),
    receivedAtMs: Date.now(),
    method,
    path,
    headers: [
      ['X-Api-Key', apiKey],
      ['Content-Type', 'application/json'],
      ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ],
    query: [...new URLSearchParams(query)],
    sourceIp: '192.0.2.1',
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
  return [request, findRoute(method, path) as RouteMatch] as const;
};

/** The scopes of the key of a seller. */
export const SCOPES = ['users:read', 'users:write', 'events:read', 'key:rotate'] as const;

/** The event of a request of a seller, as API Gateway passes it to the function. */
export const eventOf = (sent: Sent, sender: Sender) => {
  const { sellerId, keyId = 'key_bench' } = sender;
  // With the one of the buyer app, whose operations are measured too.
  const scopes = [...SCOPES, 'buyers:links'].join(' ');
  const context = { sellerId, keyId, secretNumber: '1', plan: 'professional', scopes, expiresAt: '' };
  return proxyEvent(...receive(sent, sender), context);
};

/** The event of the authorizer for the key of a sender. */
export const authorizerEventOf = (sender: Sender) =>
  authorizerEvent(...receive({ method: 'GET', target: '/v1/users' }, sender));

export const AN_HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();

/** The users of a seller: every n-th of those that it linked is removed; none if it is left out. */
interface SellerUsers {
  readonly linked: number;
  readonly removeEvery?: number;
}

/** The id of a user of a benchmark. */
export const benchUserId = (ordinal: number): string => userIdAt(ordinal, '0'.repeat(15));

const userItem = (sellerId: string, ordinal: number): StoredItem => {
  const linkedAt = new Date(1_790_000_000_000 + ordinal * 1000).toISOString();
  return {
    ...userKey(sellerId, ordinal),
    id: benchUserId(ordinal),
    national_id_last_four: '0829',
    birth_date: '1370/1/15',
    phone: `+98955${String(ordinal % 10_000_000).padStart(7, '0')}`,
    display_name: `Person ${ordinal}`,
    created_at: linkedAt,
    checked_at: linkedAt,
    last_event: ordinal,
  };
};

/** The index of removals, as the removals would have written it. */
const removalItems = (sellerId: string, removed: readonly number[]): StoredItem[] => {
  let summary: Uint8Array | undefined;
  const bitmaps = new Map<number, Uint8Array>();
  for (const ordinal of removed) {
    const block = blockOf(ordinal);
    bitmaps.set(block, withRemoved(bitmaps.get(block), ordinal));
    summary = withCounted(summary, block);
  }
  if (summary === undefined) return [];
  const blocks = [...bitmaps].map(([block, bitmap]) => ({
    ...removalBlockKey(sellerId, block),
    removed_ordinals: bitmap,
  }));
  return [{ ...removalSummaryKey(sellerId), removed_counts: summary }, ...blocks];
};

/** Every item of a seller with these users, and its last event: those before it have expired. */
const sellerItems = (sellerId: string, { linked, removeEvery = linked + 1 }: SellerUsers): StoredItem[] => {
  const ordinals = Array.from({ length: linked }, (_, index) => index + 1);
  const removed = ordinals.filter((ordinal) => ordinal % removeEvery === 0);
  const seller: Seller = {
    seller_id: sellerId,
    name: 'Bench',
    status: 'active',
    user_count: linked,
    removed_count: removed.length,
    event_count: linked + removed.length,
    created_at: AN_HOUR_AGO,
  };
  const lastEvent = { type: 'user.updated', user_id: benchUserId(1), occurred_at: AN_HOUR_AGO };
  const users = ordinals.filter((ordinal) => ordinal % removeEvery !== 0);
  return [
    { ...sellerKey(sellerId), ...seller },
    { ...eventKey(sellerId, seller.event_count), ...lastEvent },
    ...removalItems(sellerId, removed),
    ...users.map((ordinal) => userItem(sellerId, ordinal)),
  ];
};

/** Starts an embedded database with the table of the benchmarks. */
export const startBenchDatabase = async () => {
  setLocalCredentials();
  const database = await startDatabase();
  const table = openTable(TABLE_NAME, database.endpoint);
  await ensureTable(table);
  return {
    url: database.endpoint,
    table,
    addSeller: (sellerId: string, users: SellerUsers) => putAll(table, sellerItems(sellerId, users)),
    async stop(): Promise<void> {
      table.client.destroy();
      await database.stop();
    },
  };
};
