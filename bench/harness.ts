/** What the benchmarks share: sellers with users, events of requests, turns, and the results. */
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import { newId } from '#admin/administration.ts';
import { putAll } from '#admin/stores/batches.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { ensureTable, startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { proxyEvent, type ReceivedRequest } from '#local/gateway/proxy-event.ts';
import { type RouteMatch, router } from '#local/gateway/router.ts';
import { allRoutes } from '#shared/routes.ts';
import { SCOPES } from '#shared/scopes.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { buyerKey, eventKey, sellerKey } from '#shared/table/keys.ts';
import { userAfter } from '#shared/users/link-user.ts';
import { newUserSchema } from '#shared/users/schema.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { newDemoPerson } from '#test/simulators/people.ts';

export const TABLE_NAME = 'buyer-linking-bench';

/** Starts an embedded database with the table, which the functions in this process then use. */
export const startBenchDatabase = async () => {
  setLocalCredentials();
  const { endpoint, stop } = await startDatabase();
  const table = openTable(TABLE_NAME, endpoint);
  await ensureTable(table);
  // The functions that are called in this process hash nothing.
  Object.assign(process.env, { TABLE_NAME, DYNAMODB_ENDPOINT: endpoint, HASH_SECRET: 'file:none' });
  return {
    endpoint,
    table,
    async [Symbol.asyncDispose](): Promise<void> {
      table.client.destroy();
      await stop();
    },
  };
};

export const AN_HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();

const RANDOM_PART = '0'.repeat(15);

/** The id of a user of putSeller. */
export const benchUserId = (ordinal: number): string => userIdAt(ordinal, RANDOM_PART);

/** Puts a seller with users and one event: a transaction for each user would take minutes. */
export const putSeller = async (table: Table, sellerId: string, userCount: number): Promise<void> => {
  const seller: Seller = {
    seller_id: sellerId,
    name: 'Bench',
    status: 'active',
    user_count: userCount,
    removed_count: 0,
    event_count: 1,
    created_at: AN_HOUR_AGO,
  };
  // It is an hour old: of a log that has just begun, each read makes a second Query.
  const event = { type: 'user.updated', user_id: benchUserId(1), occurred_at: AN_HOUR_AGO };
  const hash = new KeyedHash('bench');
  const body = v.parse(newUserSchema, newDemoPerson());
  const link = { sellerId, phone: hash, buyer: buyerKey('bench'), body, linkedAt: AN_HOUR_AGO };
  const users = Array.from({ length: userCount }, (_, before) =>
    userAfter(
      { users: before, removed: 0, events: 0 },
      { ...link, person: new KeyedHash(`person ${before}`) },
      RANDOM_PART,
    ),
  );
  const others = [
    { ...sellerKey(sellerId), ...seller },
    { ...eventKey(sellerId, 1), ...event },
  ];
  await putAll(table, [...others, ...users]);
};

/** A request of a seller. */
export interface Sent {
  readonly method: string;
  /** The path with the query. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  readonly sellerId: string;
  /** By default a new one, so that the limits of a key refuse no request. */
  readonly keyId?: string;
}

const findRoute = router(allRoutes);

/** All but that of the buyer app, with which codes are sent and counted in another way. */
const scopes = SCOPES.filter((scope) => scope !== 'buyers:register').join(' ');

/** Returns the row of a request, and its event as API Gateway passes it to the function. */
export const received = ({ method, target, headers, body, sellerId, keyId = newId('key') }: Sent) => {
  const [path = '', query = ''] = target.split('?');
  const match = findRoute(method, path) as RouteMatch;
  const request: ReceivedRequest = {
    extendedRequestId: randomUUID(),
    receivedAtMs: Date.now(),
    method,
    path,
    query: [...new URLSearchParams(query)],
    headers: Object.entries({ 'Content-Type': 'application/json', ...headers }),
    sourceIp: '192.0.2.1',
    body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  };
  const caller = { sellerId, keyId, secretNumber: '1', plan: 'professional', scopes, expiresAt: '' };
  return { route: match.route, event: proxyEvent(request, match, caller) };
};

type Handler = (event: APIGatewayProxyEvent, context: object) => Promise<APIGatewayProxyResult>;

/**
 * Calls a function of this process as Lambda does. Each request has a context of its own, which carries its state. Its time limit is the longest
 * of Lambda: it counts real time, which a benchmark in virtual time does not bound.
 */
export const call = (handler: unknown, event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> =>
  (handler as Handler)(event, { getRemainingTimeInMillis: () => 900_000 });

/**
 * Calls `run` for each subject `rounds` times, in turns, so that other load on the machine affects all of them alike. Returns the results
 * by subject.
 */
export const interleave = async <Subject, Result>(
  subjects: readonly Subject[],
  rounds: number,
  run: (subject: Subject) => Promise<Result>,
): Promise<Map<Subject, Result[]>> => {
  const results = new Map(subjects.map((subject) => [subject, [] as Result[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, own] of results) own.push(await run(subject));
  }
  return results;
};

/** Returns the median, of an even number of values the lower one in the middle. NaN for no values. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

/** Returns a number with `digits` decimals and commas between thousands. */
export const figure = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Prints rows, of a text and then numbers, as the Markdown table that docs/operators/performance.md shows. */
export const report = (title: string, rows: readonly Readonly<Record<string, string>>[]): void => {
  const head = Object.keys(rows[0] ?? {});
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'));
  const lines = [head, rule, ...rows.map((row) => Object.values(row))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  const table = lines.map((line) => `| ${line.map(cell).join(' | ')} |`);
  console.log([title, '', ...table].join('\n'));
};
