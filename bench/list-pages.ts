/**
 * `npm run bench:list` compares the response times of pages 1 to 100 of a seller with 10,000 users. It starts the service on a free
 * port with the table in memory, writes the users into the table, and requests the pages in turn over HTTP.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Service, startService } from '#local/service.ts';
import { readEnv } from '#shared/env.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { sellerKey, userKey } from '#shared/table/keys.ts';

const USERS = 10_000;
const PAGE_SIZE = 100;
const PAGES = [1, 2, 50, 99, 100] as const;
const WARM_UP_ROUNDS = 10;
/** Five requests per round. All rounds together stay below the 1,000 requests per minute of the plan. */
const ROUNDS = 150;
const BATCH = 25;

const userItem = (sellerId: string, ordinal: number) => ({
  ...userKey(sellerId, ordinal),
  id: `usr_${String(ordinal).padStart(22, '0')}`,
  national_id_last_four: '0829',
  birth_date: '1370/1/15',
  phone: `+98955${String(ordinal).padStart(7, '0')}`,
  display_name: `Person ${ordinal}`,
  created_at: new Date(1_790_000_000_000 + ordinal * 1000).toISOString(),
});

const fill = async ({ client, name }: Table, sellerId: string): Promise<void> => {
  for (let first = 1; first <= USERS; first += BATCH) {
    const requests = Array.from({ length: Math.min(BATCH, USERS - first + 1) }, (_, index) => ({
      PutRequest: { Item: userItem(sellerId, first + index) },
    }));
    const { UnprocessedItems = {} } = await client.send(
      new BatchWriteCommand({ RequestItems: { [name]: requests } }),
    );
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('the database left users unwritten');
  }
  await client.send(
    new UpdateCommand({
      TableName: name,
      Key: sellerKey(sellerId),
      UpdateExpression: 'SET user_count = :users',
      ExpressionAttributeValues: { ':users': USERS },
    }),
  );
};

/** Returns the milliseconds from the request of a page to the end of its response. */
const timePage = async ({ demo }: Service, page: number): Promise<number> => {
  const startedAt = performance.now();
  const response = await fetch(`${demo.base_url}/v1/users?page=${page}&page_size=${PAGE_SIZE}`, {
    headers: { 'X-Api-Key': demo.keys.professional },
  });
  const { data } = (await response.json()) as { data: { display_name: string }[] };
  const ms = performance.now() - startedAt;
  const first = `Person ${(page - 1) * PAGE_SIZE + 1}`;
  if (data.length !== PAGE_SIZE || data[0]?.display_name !== first) throw new Error(`page ${page} is wrong`);
  return ms;
};

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))] as number;

/** Requests the pages in turn, so that other load on the machine affects all of them alike. */
const measure = async (service: Service): Promise<Map<number, number[]>> => {
  const times = new Map<number, number[]>(PAGES.map((page) => [page, []]));
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const page of PAGES) {
      const ms = await timePage(service, page);
      if (round >= WARM_UP_ROUNDS) times.get(page)?.push(ms);
    }
  }
  return times;
};

const report = (times: ReadonlyMap<number, readonly number[]>): string => {
  const firstMedian = quantile(times.get(1) ?? [], 0.5);
  const row = (cells: readonly string[]) => cells.map((cell) => cell.padStart(12)).join('');
  return [
    `${USERS} users, pages of ${PAGE_SIZE}, ${ROUNDS} requests each, milliseconds over HTTP:`,
    row(['page', 'median', 'p90', 'to page 1']),
    ...[...times].map(([page, all]) => {
      const median = quantile(all, 0.5);
      return row([
        String(page),
        median.toFixed(2),
        quantile(all, 0.9).toFixed(2),
        `x ${(median / firstMedian).toFixed(2)}`,
      ]);
    }),
  ].join('\n');
};

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
const service = await startService({
  port: 0,
  folder,
  inMemory: true,
  databaseEndpoint: process.env.DYNAMODB_ENDPOINT,
  onProgress: () => {},
  onCompleted: () => {},
  onMessage: () => {},
});
try {
  const { TABLE_NAME, DYNAMODB_ENDPOINT } = readEnv(['TABLE_NAME', 'DYNAMODB_ENDPOINT']);
  const table = openTable(TABLE_NAME, DYNAMODB_ENDPOINT);
  await fill(table, service.demo.seller_id);
  process.stdout.write(`${report(await measure(service))}\n`);
  table.client.destroy();
} finally {
  await service.stop();
  await rm(folder, { recursive: true });
}
