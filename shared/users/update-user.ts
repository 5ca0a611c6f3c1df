import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { externalIdKey, type ItemKey, phoneLinkKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import {
  type CancellationReason,
  isConditionFailure,
  notWritten,
  type StoredItem,
  type TransactItem,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import type { BirthDate } from '#shared/values/birth-date.ts';
import type { User, UserUpdate } from './schema.ts';
import { changeUsers, countsFrom, Overtaken, sequenceAfter, writeUserChange } from './user-change.ts';
import { ordinalOf } from './user-id.ts';
import { personItem, userFrom } from './user-item.ts';

/** The value is the user as it is now. The reason is the problem of the request. */
type CorrectionResult<Reason> = WriteResult<User, Reason | 'user_not_found'>;

/** When a correction is made, and until when it is retried. */
interface CorrectionOptions {
  /** ISO, UTC. */
  readonly updatedAt: string;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Awaited before the first write, beside the read. Its rejection is thrown. */
  readonly mayWrite?: Promise<unknown>;
}

interface ConfirmOptions extends CorrectionOptions {
  /** What both registries confirmed of the person, and the registration of the buyer. */
  readonly confirmed: {
    readonly buyer: ItemKey;
    readonly phoneHash: KeyedHash;
    readonly phone: string;
    readonly birthDate: BirthDate;
  };
  /** Written in the same transaction, without conditions. */
  readonly alsoWrite: readonly TransactItem[];
}

/** What becomes of a user. */
interface Correction<Reason> {
  readonly after: StoredItem;
  /** What is written with the user. */
  readonly items: readonly TransactItem[];
  /** Why they were not written; undefined: another change came first. */
  readonly reasonOf: (reasons: readonly CancellationReason[]) => Reason | undefined;
}

/** Writes a correction and its event in one transaction. `correct` returns undefined if nothing changes: then it writes nothing. */
const correctUser = async <Reason>(
  table: Table,
  [sellerId, userId]: readonly [string, string],
  { updatedAt, deadlineMs, mayWrite }: CorrectionOptions,
  correct: (before: StoredItem) => Correction<Reason> | undefined,
): Promise<CorrectionResult<Reason>> => {
  const ordinal = ordinalOf(userId);
  if (ordinal === undefined) return notWritten('user_not_found');
  const keys = { seller: sellerKey(sellerId), user: userKey(sellerId, ordinal) };

  const read = async () => {
    const [items] = await Promise.all([batchGet(table, Object.values(keys)), mayWrite]);
    return { counts: countsFrom(itemOf(items, keys.seller)), before: itemOf(items, keys.user) };
  };
  return changeUsers(deadlineMs, read, async ({ counts, before }) => {
    if (before?.id !== userId) return notWritten('user_not_found');
    const correction = correct(before);
    if (correction === undefined) return written(userFrom(before));
    const after = { ...correction.after, last_event: sequenceAfter(counts) };
    const user = {
      TableName: table.name,
      Item: after,
      ConditionExpression: 'last_event = :read',
      ExpressionAttributeValues: { ':read': before.last_event },
    };
    const event = { type: 'user.updated', userId, occurredAt: updatedAt } as const;
    const change = { sellerId, counts, event, items: [{ Put: user }, ...correction.items] };
    const result = await writeUserChange(table, change);
    if (result.written) return written(userFrom(after));
    const { reasons, counts: newCounts } = result.reason;
    const reason = correction.reasonOf(reasons.slice(1));
    if (reason !== undefined) return notWritten(reason);
    return new Overtaken(reasons.some(isConditionFailure) ? undefined : newCounts);
  });
};

/** The user with what the correction names; null clears an attribute. */
const updated = (user: StoredItem, update: UserUpdate): StoredItem => ({
  ...user,
  ...Object.fromEntries(Object.entries(update).map(([name, value]) => [name, value ?? undefined])),
});

const isSame = (before: StoredItem, after: StoredItem, update: UserUpdate): boolean =>
  Object.keys(update).every((name) => before[name] === after[name]);

/** The external id of a user if it changes. Only the new one returns what it holds. */
const externalIdItems = (
  TableName: string,
  sellerId: string,
  { before, after }: { readonly before: StoredItem; readonly after: StoredItem },
): TransactItem[] => {
  if (before.external_id === after.external_id) return [];
  const keyOf = ({ external_id }: StoredItem) => externalIdKey(sellerId, String(external_id));
  const take: TransactItem = {
    Put: {
      TableName,
      Item: { ...keyOf(after), user_id: after.id },
      // The same user can hold it after another correction at the same time.
      ConditionExpression: 'attribute_not_exists(pk) OR user_id = :id',
      ExpressionAttributeValues: { ':id': after.id },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
  return [
    ...(after.external_id === undefined ? [] : [take]),
    ...(before.external_id === undefined ? [] : [{ Delete: { TableName, Key: keyOf(before) } }]),
  ];
};

/**
 * The registration of the buyer, the person item, and the phone link if the phone is another one. The hashes that stay keep the key of the
 * hash secret under which they are stored, so that the id of the link that the buyer sees stays too.
 */
const confirmed = (
  TableName: string,
  sellerId: string,
  before: StoredItem,
  { confirmed: { phoneHash, buyer, phone, birthDate }, updatedAt, alsoWrite }: ConfirmOptions,
): Correction<'buyer_not_registered'> => {
  const ordinal = Number(before.sk);
  const oldHash = String(before.phone_hash);
  const phone_hash = phoneHash.isOf(oldHash) ? oldHash : phoneHash.current;
  const after = { ...before, phone, phone_hash, birth_date: birthDate.text, checked_at: updatedAt };
  const keyOf = (hash: string) => phoneLinkKey(hash, sellerId, ordinal);
  const ConditionExpression = 'attribute_exists(pk)';
  return {
    after,
    items: [
      { ConditionCheck: { TableName, Key: buyer, ConditionExpression } },
      { Put: { TableName, Item: personItem(sellerId, after, birthDate.isoDay) } },
      ...(phone_hash === oldHash
        ? []
        : [
            { Put: { TableName, Item: { ...keyOf(phone_hash), user_id: before.id } } },
            { Delete: { TableName, Key: keyOf(oldHash) } },
          ]),
      ...alsoWrite,
    ],
    reasonOf: ([buyer]) => (buyer && isConditionFailure(buyer) ? 'buyer_not_registered' : undefined),
  };
};

/**
 * Changes the name and the external id of a user. A correction that changes nothing writes nothing. Conflicts with other changes are retried
 * until the deadline; then it throws `service_unavailable`, and nothing was changed.
 */
export const userUpdater =
  (table: Table) =>
  (sellerId: string, userId: string, options: CorrectionOptions & { readonly update: UserUpdate }) =>
    correctUser<'external_id_conflict'>(table, [sellerId, userId], options, (before) => {
      const after = updated(before, options.update);
      if (isSame(before, after, options.update)) return undefined;
      return {
        after,
        items: externalIdItems(table.name, sellerId, { before, after }),
        reasonOf: (reasons) =>
          reasons.some(({ item }) => item !== undefined) ? 'external_id_conflict' : undefined,
      };
    });

/** Stores what both registries confirmed of a user, with retries like those of a correction. */
export const userConfirmer = (table: Table) => (sellerId: string, userId: string, options: ConfirmOptions) =>
  correctUser(table, [sellerId, userId], options, (before) =>
    confirmed(table.name, sellerId, before, options),
  );
