import type { RemovalReason } from '#shared/events/event.ts';
import type { Table } from '#shared/table/client.ts';
import {
  externalIdKey,
  personKey,
  phoneLinkKey,
  refusalKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { isConditionFailure, type StoredItem, type TransactItem } from '#shared/table/writes.ts';
import { blockOf, withCounted, withRemoved } from './removals.ts';
import { changeUsers, countsFrom, Overtaken, writeUserChange } from './user-change.ts';
import { ordinalOf } from './user-id.ts';

/** `already_removed`: a removal of the same id came first. */
export type RemovalResult = 'removed' | 'already_removed' | 'not_found';

export interface RemovalOptions {
  /** ISO, UTC. */
  readonly removedAt: string;
  readonly reason: RemovalReason;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Awaited before the first write, beside the read. Its rejection is thrown. */
  readonly mayWrite?: Promise<unknown>;
  /** Epoch seconds: the buyer ended the link, and refuses later ones. Otherwise the person can be linked again. */
  readonly refusedAt?: number;
  /** Written in the same transaction, so only with the result `removed`. They have no conditions. */
  readonly alsoWrite?: readonly TransactItem[];
  /** The keys of a user that the table has lost: sk, id and phone_hash. Its person item and external id stay. */
  readonly lost?: StoredItem | undefined;
}

const readAll = async (table: Table, sellerId: string, ordinal: number) => {
  const keys = {
    seller: sellerKey(sellerId),
    user: userKey(sellerId, ordinal),
    tombstone: tombstoneKey(sellerId, ordinal),
    block: removalBlockKey(sellerId, blockOf(ordinal)),
    summary: removalSummaryKey(sellerId),
  };
  const items = await batchGet(table, Object.values(keys));
  return {
    counts: countsFrom(itemOf(items, keys.seller)),
    user: itemOf(items, keys.user),
    tombstone: itemOf(items, keys.tombstone),
    bitmap: itemOf(items, keys.block)?.removed_ordinals as Uint8Array | undefined,
    summary: itemOf(items, keys.summary)?.removed_counts as Uint8Array | undefined,
  };
};

type Read = Awaited<ReturnType<typeof readAll>>;

/** The condition that an attribute of an item is as it was read; undefined: there was no such item. */
const unchanged = (attribute: string, read: unknown) =>
  read === undefined
    ? { ConditionExpression: 'attribute_not_exists(pk)' }
    : { ConditionExpression: `${attribute} = :read`, ExpressionAttributeValues: { ':read': read } };

/** The person item is deleted, or holds the refusal of the buyer. One of another ordinal belongs to a later link of the person. */
const personItems = (
  TableName: string,
  { sellerId, user, refusedAt }: { sellerId: string; user: StoredItem; refusedAt?: number | undefined },
): TransactItem[] => {
  if (user.person_hash === undefined) return [];
  const [personHash, phone_hash] = [String(user.person_hash), String(user.phone_hash)];
  const Key = personKey(sellerId, personHash);
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR ordinal = :ordinal',
    ExpressionAttributeValues: { ':ordinal': Number(user.sk) },
  };
  if (refusedAt === undefined) return [{ Delete: { TableName, Key, ...condition } }];
  const refusal = { phone_hash, refused_at: refusedAt };
  return [
    { Put: { TableName, Item: { ...Key, ...refusal }, ...condition } },
    { Put: { TableName, Item: { ...refusalKey(phone_hash, sellerId, personHash), ...refusal } } },
  ];
};

/**
 * The user becomes a tombstone, and its ordinal is noted in the index of removals. The hashes are those that the user was stored under,
 * so a rotation of the hash secret changes nothing.
 */
const removalItems = (
  TableName: string,
  removal: { sellerId: string; user: StoredItem; removedAt: string; refusedAt?: number | undefined },
  { bitmap, summary }: Read,
): TransactItem[] => {
  const { sellerId, user, removedAt } = removal;
  const ordinal = Number(user.sk);
  const block = blockOf(ordinal);
  const removed_ordinals = withRemoved(bitmap, ordinal);
  const removed_counts = withCounted(summary, block);
  return [
    {
      Delete: {
        TableName,
        Key: userKey(sellerId, ordinal),
        ...unchanged('last_event', user.last_event),
      },
    },
    { Put: { TableName, Item: { ...tombstoneKey(sellerId, ordinal), id: user.id, removed_at: removedAt } } },
    ...personItems(TableName, removal),
    { Delete: { TableName, Key: phoneLinkKey(String(user.phone_hash), sellerId, ordinal) } },
    ...(user.external_id === undefined
      ? []
      : [{ Delete: { TableName, Key: externalIdKey(sellerId, String(user.external_id)) } }]),
    {
      Put: {
        TableName,
        Item: { ...removalBlockKey(sellerId, block), removed_ordinals },
        ...unchanged('removed_ordinals', bitmap),
      },
    },
    {
      Put: {
        TableName,
        Item: { ...removalSummaryKey(sellerId), removed_counts },
        ...unchanged('removed_counts', summary),
      },
    },
  ];
};

/**
 * Removes a user and everything personal about it, in one transaction. Retries conflicts until the deadline, then throws
 * `service_unavailable`: nothing was changed.
 */
export const userRemover =
  (table: Table) =>
  async (sellerId: string, userId: string, options: RemovalOptions): Promise<RemovalResult> => {
    const { removedAt, reason, refusedAt, deadlineMs, mayWrite, alsoWrite = [], lost } = options;
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return 'not_found';

    const read = async () => (await Promise.all([readAll(table, sellerId, ordinal), mayWrite]))[0];
    return changeUsers(deadlineMs, read, async (found) => {
      const { counts, user = lost, tombstone } = found;
      if (tombstone !== undefined) return tombstone.id === userId ? 'already_removed' : 'not_found';
      // Between the reads of the tombstone and the user, the user was removed or linked.
      if (user === undefined) return ordinal <= counts.users ? new Overtaken(undefined) : 'not_found';
      if (user.id !== userId) return 'not_found';
      const event = { type: 'user.removed', userId, occurredAt: removedAt, reason } as const;
      const items = [
        ...removalItems(table.name, { sellerId, user, removedAt, refusedAt }, found),
        ...alsoWrite,
      ];
      const change = { sellerId, counts, added: { removed: 1 }, event, items } as const;
      const result = await writeUserChange(table, change);
      if (result.written) return 'removed';
      const { reasons, counts: newCounts } = result.reason;
      return new Overtaken(reasons.some(isConditionFailure) ? undefined : newCounts);
    });
  };
