import type { Clock } from '#shared/clock.ts';
import type { Deadline } from '#shared/deadline.ts';
import type { RemovalReason } from '#shared/events/event.ts';
import { endExpression, holdsCode } from '#shared/one-time-codes/code-item.ts';
import { currentDeadline } from '#shared/request-context.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  codeKey,
  endedLinkKey,
  externalIdKey,
  personKey,
  phoneLinkKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import type { Action, StoredItem, TransactItem } from '#shared/table/writes.ts';
import { blockOf, withCounted, withRemoved } from './removals.ts';
import { countsFrom, type Overtaken, writeUserChange } from './user-change.ts';
import { ordinalOf } from './user-id.ts';

/** `already_removed`: a removal of the same id came first. */
export type RemovalResult = 'removed' | 'already_removed' | 'not_found';

interface RemovalOptions {
  /** ISO, UTC. */
  readonly removedAt: string;
  readonly reason: RemovalReason;
  /** The buyer ended the link: the person cannot be linked again until a later sign-in. Undefined: it can. */
  readonly ended?: EndByBuyer;
  /** Written in the same transaction, so only with the result `removed`. They have no conditions. */
  readonly alsoWrite?: readonly TransactItem[];
  /** Until when other changes may come first; by default the deadline of the request. */
  readonly deadline?: Pick<Deadline, 'leftMs'>;
}

interface EndByBuyer {
  /** The outstanding code of this phone at the seller ends too, since a code from before must not lift the end. */
  readonly phone: KeyedHash;
  /**
   * Says when the link ended, after each read of that code: it can be redeemed between the request and the read, and that sign-in must
   * not lift the end either.
   */
  readonly clock: Clock;
}

const readAll = async (
  table: Table,
  { sellerId, ordinal, ended }: { sellerId: string; ordinal: number; ended?: EndByBuyer | undefined },
) => {
  const codeKeys = ended?.phone.keys((hash) => codeKey(hash, sellerId)) ?? [];
  const keys = {
    seller: sellerKey(sellerId),
    user: userKey(sellerId, ordinal),
    tombstone: tombstoneKey(sellerId, ordinal),
    block: removalBlockKey(sellerId, blockOf(ordinal)),
    summary: removalSummaryKey(sellerId),
  };
  const items = await batchGet(table, [...Object.values(keys), ...codeKeys]);
  return {
    counts: countsFrom(itemOf(items, keys.seller)),
    /** With a code that is outstanding. */
    codes: codeKeys.filter((key) => holdsCode(itemOf(items, key))),
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

/** Deletes the person item, or keeps only the end by the buyer in it. One with another ordinal belongs to a later link of the person. */
const personActions = (
  TableName: string,
  { sellerId, user, endedAt }: { sellerId: string; user: StoredItem; endedAt?: number | undefined },
): Action<Overtaken>[] => {
  const [personHash, phone_hash] = [String(user.person_hash), String(user.phone_hash)];
  const Key = personKey(sellerId, personHash);
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR ordinal = :ordinal',
    ExpressionAttributeValues: { ':ordinal': Number(user.sk) },
  };
  const otherwise = 'overtaken';
  if (endedAt === undefined) return [{ Delete: { TableName, Key, ...condition }, otherwise }];
  const end = { phone_hash, ended_at: endedAt };
  return [
    { Put: { TableName, Item: { ...Key, ...end }, ...condition }, otherwise },
    { Put: { TableName, Item: { ...endedLinkKey(phone_hash, sellerId, personHash), ...end } } },
  ];
};

/** The place becomes a tombstone, and is noted in the index of removals, which must be as it was read. */
const tombstoneActions = (
  TableName: string,
  place: { sellerId: string; ordinal: number; userId: unknown; removedAt: string },
  { bitmap, summary }: Pick<Read, 'bitmap' | 'summary'>,
): Action<Overtaken>[] => {
  const { sellerId, ordinal, userId: id, removedAt: removed_at } = place;
  const block = blockOf(ordinal);
  const removed_ordinals = withRemoved(bitmap, ordinal);
  const removed_counts = withCounted(summary, block);
  return [
    { Put: { TableName, Item: { ...tombstoneKey(sellerId, ordinal), id, removed_at } } },
    {
      Put: {
        TableName,
        Item: { ...removalBlockKey(sellerId, block), removed_ordinals },
        ...unchanged('removed_ordinals', bitmap),
      },
      otherwise: 'overtaken',
    },
    {
      Put: {
        TableName,
        Item: { ...removalSummaryKey(sellerId), removed_counts },
        ...unchanged('removed_counts', summary),
      },
      otherwise: 'overtaken',
    },
  ];
};

/** The hashes are those that the user was stored under, so a rotation of the hash secret changes nothing. */
const removalActions = (
  TableName: string,
  removal: { sellerId: string; user: StoredItem; removedAt: string; endedAt?: number | undefined },
  read: Read,
): Action<Overtaken>[] => {
  const { sellerId, user, removedAt } = removal;
  const ordinal = Number(user.sk);
  return [
    {
      Delete: {
        TableName,
        Key: userKey(sellerId, ordinal),
        ...unchanged('last_event', user.last_event),
      },
      otherwise: 'overtaken',
    },
    ...tombstoneActions(TableName, { sellerId, ordinal, userId: user.id, removedAt }, read),
    ...personActions(TableName, removal),
    ...read.codes.map((Key) => ({
      Update: { TableName, Key, ...endExpression },
      otherwise: 'overtaken' as const,
    })),
    { Delete: { TableName, Key: phoneLinkKey(String(user.phone_hash), sellerId, ordinal) } },
    ...(user.external_id === undefined
      ? []
      : [{ Delete: { TableName, Key: externalIdKey(sellerId, String(user.external_id)) } }]),
  ];
};

/**
 * Removes a user and everything personal about it, in one transaction. Repeats this while other changes come first. Throws
 * `service_unavailable` at the deadline: nothing was changed.
 */
export const userRemover =
  (table: Table) =>
  async (sellerId: string, userId: string, options: RemovalOptions): Promise<RemovalResult> => {
    const { removedAt, reason, ended, alsoWrite = [], deadline = currentDeadline() } = options;
    const ordinal = ordinalOf(userId);
    if (ordinal === undefined) return 'not_found';
    const event = { type: 'user.removed', userId, occurredAt: removedAt, reason } as const;
    const attempt = async (): Promise<RemovalResult | Conflict> => {
      const read = await readAll(table, { sellerId, ordinal, ended });
      const { counts, user, tombstone } = read;
      if (tombstone !== undefined) return tombstone.id === userId ? 'already_removed' : 'not_found';
      if (user === undefined && ordinal > counts.users) return 'not_found';
      // It was removed or linked between the reads of the tombstone and the user.
      if (user === undefined) return new Conflict();
      if (user.id !== userId) return 'not_found';
      const endedAt = ended && Math.floor(ended.clock() / 1000);
      const actions = [
        ...removalActions(table.name, { sellerId, user, removedAt, endedAt }, read),
        ...alsoWrite,
      ];
      const change = { sellerId, counts, added: { removed: 1 }, event, actions } as const;
      const result = await writeUserChange<never>(table, change);
      return result instanceof Conflict ? result : 'removed';
    };
    return retryConflicts(deadline, attempt);
  };
