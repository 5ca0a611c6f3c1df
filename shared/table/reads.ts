import { setTimeout as pause } from 'node:timers/promises';
import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { currentDeadline } from '#shared/request-context.ts';
import type { Table } from './client.ts';
import type { ItemKey } from './keys.ts';
import { fullJitterMs } from './retry-conflicts.ts';
import type { StoredItem } from './writes.ts';

// Every read is strongly consistent, unless a range says otherwise: a write is visible the moment its response was sent.

/** Reads one item. `attributes`: the names of those to read, as in `id, phone`, none of them a reserved word; without it, all. */
export const getItem = async (
  { client, name: TableName }: Table,
  Key: ItemKey,
  attributes?: string,
): Promise<StoredItem | undefined> => {
  const { Item } = await client.send(
    new GetCommand({ TableName, Key, ProjectionExpression: attributes, ConsistentRead: true }),
  );
  return Item;
};

/** Items of one partition: all of them, or those whose sort keys begin with `prefix` or lie `between` two, both included. */
export interface Range {
  readonly pk: string;
  readonly prefix?: string | undefined;
  readonly between?: readonly [string, string];
  readonly newestFirst?: boolean;
  /** Only the items whose attribute is higher than a value. It does not lower the price. */
  readonly above?: readonly [attribute: string, value: string] | undefined;
  /** The most items of one call. */
  readonly limit?: number;
  /** Half the price; the writes of the last second may be missing. */
  readonly isEventuallyConsistent?: boolean;
}

/** A range with a filter has no Limit: DynamoDB counts the items before it filters them. The client does not send undefined values. */
const conditionsOf = ({ prefix, between, above, limit, ...range }: Range) => ({
  KeyConditionExpression: [
    'pk = :pk',
    ...(prefix === undefined ? [] : ['begins_with(sk, :prefix)']),
    ...(between === undefined ? [] : ['sk BETWEEN :first AND :last']),
  ].join(' AND '),
  ...(above === undefined
    ? { Limit: limit }
    : { FilterExpression: '#above > :above', ExpressionAttributeNames: { '#above': above[0] } }),
  ExpressionAttributeValues: {
    ':pk': range.pk,
    ':prefix': prefix,
    ':first': between?.[0],
    ':last': between?.[1],
    ':above': above?.[1],
  },
});

/** A caller that stops early causes no further read. */
export async function* queryPages({ client, name }: Table, range: Range): AsyncGenerator<StoredItem[]> {
  let start: StoredItem | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: name,
        ...conditionsOf(range),
        ScanIndexForward: range.newestFirst !== true,
        ConsistentRead: range.isEventuallyConsistent !== true,
        ExclusiveStartKey: start,
      }),
    );
    yield page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}

export const queryAll = async (table: Table, range: Range): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  for await (const page of queryPages(table, range)) items.push(...page);
  return items;
};

export const queryFirst = async (table: Table, range: Range, count: number): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  for await (const page of queryPages(table, { ...range, limit: count })) {
    items.push(...page);
    if (items.length >= count) break;
  }
  return items.slice(0, count);
};

const MAX_ATTEMPTS = 5;
const BACKOFF = [40, 80, 160, 320, 400];

/** DynamoDB left keys of a batch unread, because the table or a partition is throttled. */
export class UnprocessedKeysError extends Error {
  constructor() {
    super('the table is throttled: it left keys of a batch unread');
    this.name = 'UnprocessedKeysError';
  }
}

interface BatchGetOptions {
  /** As in `getItem`. */
  readonly attributes?: string | undefined;
  /** How often a batch is read, until a throttled table has left no key unread. */
  readonly attempts?: number;
}

const BATCH_SIZE = 100;

/** The last chunk may be shorter. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/**
 * Returns the items of these keys that exist, in no order. A key that is given twice is read once. Reads keys again that a throttled
 * table left unread, with jitter. Throws if some stay unread, since they are not absent.
 */
export const batchGet = async (
  table: Table,
  keys: readonly ItemKey[],
  options?: BatchGetOptions,
): Promise<StoredItem[]> =>
  (
    await Promise.all(chunksOf(distinct(keys), BATCH_SIZE).map((chunk) => getChunk(table, chunk, options)))
  ).flat();

/** DynamoDB rejects a batch that has a key twice. */
const distinct = (keys: readonly ItemKey[]): ItemKey[] => [
  ...new Map(keys.map((key) => [`${key.pk} ${key.sk}`, key])).values(),
];

const getChunk = async (
  { client, name }: Table,
  keys: readonly ItemKey[],
  { attributes, attempts = MAX_ATTEMPTS }: BatchGetOptions = {},
): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  let open: Record<string, unknown>[] = keys.map(({ pk, sk }) => ({ pk, sk }));
  for (let attempt = 0; open.length > 0; attempt += 1) {
    if (attempt > 0) {
      const waitMs = fullJitterMs(BACKOFF, attempt - 1);
      if (attempt === attempts || waitMs > currentDeadline().leftMs()) throw new UnprocessedKeysError();
      await pause(waitMs);
    }
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({
        RequestItems: {
          [name]: { Keys: open, ProjectionExpression: attributes, ConsistentRead: true },
        },
      }),
    );
    items.push(...(Responses?.[name] ?? []));
    open = UnprocessedKeys?.[name]?.Keys ?? [];
  }
  return items;
};

export const itemOf = (items: readonly StoredItem[], { pk, sk }: ItemKey): StoredItem | undefined =>
  items.find((item) => item.pk === pk && item.sk === sk);
