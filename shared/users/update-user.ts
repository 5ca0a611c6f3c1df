import type { Deadline } from '#shared/deadline.ts';
import { currentDeadline, deadlineWithin } from '#shared/request-context.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { externalIdKey, type ItemKey, phoneLinkKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { type Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { type Action, notWritten, type StoredItem, type WriteResult, written } from '#shared/table/writes.ts';
import type { BirthDate } from '#shared/values/birth-date.ts';
import type { User, UserUpdate } from './schema.ts';
import {
  countsFrom,
  FREE_CHANGE_WAIT_MS,
  type Overtaken,
  type SellerCounts,
  sequenceAfter,
  type UserChangeResult,
  writeUserChange,
} from './user-change.ts';
import { ordinalOf } from './user-id.ts';
import { personItem, userFrom } from './user-item.ts';

/** The value is the user as it is now. The reason is the problem of the request. */
type CorrectionResult<Outcome> = WriteResult<User, Outcome | 'user_not_found'>;

interface CorrectedUser {
  readonly sellerId: string;
  readonly userId: string;
  /** ISO, UTC. */
  readonly updatedAt: string;
  /** Until when other changes may come first. */
  readonly deadline: Pick<Deadline, 'leftMs'>;
}

interface CorrectionOptions {
  /** ISO, UTC. */
  readonly updatedAt: string;
}

interface ConfirmOptions extends CorrectionOptions {
  /** What both registries confirmed of the person, and the registration of the buyer. */
  readonly confirmed: {
    readonly buyer: ItemKey;
    readonly phoneHash: KeyedHash;
    readonly phone: string;
    readonly birthDate: BirthDate;
  };
}

/** A user and the counts of its seller, as they were read. */
interface ReadUser {
  readonly counts: SellerCounts;
  readonly before: StoredItem | undefined;
}

/** What becomes of a user, and what is written with it. */
interface Correction<Outcome extends string> {
  readonly after: StoredItem;
  readonly actions: readonly Action<Outcome>[];
}

const readUser = async (table: Table, sellerId: string, ordinal: number): Promise<ReadUser> => {
  const keys = { seller: sellerKey(sellerId), user: userKey(sellerId, ordinal) };
  const items = await batchGet(table, Object.values(keys));
  return { counts: countsFrom(itemOf(items, keys.seller)), before: itemOf(items, keys.user) };
};

/** Writes a correction and its event, if the user is still as it was read. */
const writeCorrection = <Outcome extends string>(
  table: Table,
  { sellerId, counts, before }: ReadUser & { readonly sellerId: string; readonly before: StoredItem },
  { after, actions, updatedAt }: Correction<Outcome> & { readonly updatedAt: string },
): Promise<UserChangeResult<Outcome>> => {
  const putUser: Action<Overtaken> = {
    Put: {
      TableName: table.name,
      Item: { ...after, last_event: sequenceAfter(counts) },
      ConditionExpression: 'last_event = :read',
      ExpressionAttributeValues: { ':read': before.last_event },
    },
    otherwise: 'overtaken',
  };
  const event = { type: 'user.updated', userId: String(after.id), occurredAt: updatedAt } as const;
  return writeUserChange<Outcome>(table, { sellerId, counts, event, actions: [...actions, putUser] });
};

/** The user with what the correction names; null clears an attribute. */
const updated = (user: StoredItem, update: UserUpdate): StoredItem => ({
  ...user,
  ...Object.fromEntries(Object.entries(update).map(([name, value]) => [name, value ?? undefined])),
});

const isSame = (before: StoredItem, after: StoredItem, update: UserUpdate): boolean =>
  Object.keys(update).every((name) => before[name] === after[name]);

/** The external id of a user, if it changes. */
const externalIdActions = (
  TableName: string,
  sellerId: string,
  { before, after }: { readonly before: StoredItem; readonly after: StoredItem },
): Action<'external_id_conflict'>[] => {
  if (before.external_id === after.external_id) return [];
  const keyOf = ({ external_id }: StoredItem) => externalIdKey(sellerId, String(external_id));
  const take: Action<'external_id_conflict'> = {
    Put: {
      TableName,
      Item: { ...keyOf(after), user_id: after.id },
      // The same user can hold it after another correction at the same time.
      ConditionExpression: 'attribute_not_exists(pk) OR user_id = :id',
      ExpressionAttributeValues: { ':id': after.id },
    },
    otherwise: 'external_id_conflict',
  };
  return [
    ...(after.external_id === undefined ? [] : [take]),
    ...(before.external_id === undefined ? [] : [{ Delete: { TableName, Key: keyOf(before) } }]),
  ];
};

/**
 * Requires the registration of the buyer, and writes the person item, and the phone link if the phone changes or an older hash secret made
 * its hash.
 */
const confirmation = (
  TableName: string,
  sellerId: string,
  { before, options }: { readonly before: StoredItem; readonly options: ConfirmOptions },
): Correction<'buyer_gone'> => {
  const { buyer, phoneHash, phone, birthDate } = options.confirmed;
  const oldHash = String(before.phone_hash);
  const phone_hash = phoneHash.current;
  const checked = { phone, phone_hash, birth_date: birthDate.text, checked_at: options.updatedAt };
  const after = { ...before, ...checked };
  const keyOf = (hash: string) => phoneLinkKey(hash, sellerId, Number(before.sk));
  return {
    after,
    actions: [
      {
        ConditionCheck: { TableName, Key: buyer, ConditionExpression: 'attribute_exists(pk)' },
        otherwise: 'buyer_gone',
      },
      { Put: { TableName, Item: personItem(sellerId, after, birthDate.isoDay) } },
      ...(phone_hash === oldHash
        ? []
        : [
            { Put: { TableName, Item: { ...keyOf(phone_hash), user_id: before.id } } },
            { Delete: { TableName, Key: keyOf(oldHash) } },
          ]),
    ],
  };
};

/**
 * Writes what `correctionOf`, a pure function, returns for the user. Writes nothing if that is undefined. Repeats this while other changes
 * come first. Throws `service_unavailable` at the deadline: nothing was changed.
 */
const correctUser = async <Outcome extends string>(
  table: Table,
  { sellerId, userId, updatedAt, deadline }: CorrectedUser,
  correctionOf: (before: StoredItem) => Correction<Outcome> | undefined,
): Promise<CorrectionResult<Outcome>> => {
  const ordinal = ordinalOf(userId);
  if (ordinal === undefined) return notWritten('user_not_found');
  const attempt = async (): Promise<CorrectionResult<Outcome> | Conflict> => {
    const { counts, before } = await readUser(table, sellerId, ordinal);
    if (before?.id !== userId) return notWritten('user_not_found');
    const correction = correctionOf(before);
    if (correction === undefined) return written(userFrom(before));
    const result = await writeCorrection(table, { sellerId, counts, before }, { ...correction, updatedAt });
    return result.written ? written(userFrom(correction.after)) : result;
  };
  return retryConflicts(deadline, attempt);
};

/** Changes the name and the external id of a user. */
export const userUpdater =
  (table: Table) =>
  (
    sellerId: string,
    userId: string,
    { updatedAt, update }: CorrectionOptions & { readonly update: UserUpdate },
  ) => {
    const deadline = deadlineWithin(FREE_CHANGE_WAIT_MS);
    return correctUser(table, { sellerId, userId, updatedAt, deadline }, (before) => {
      const after = updated(before, update);
      if (isSame(before, after, update)) return undefined;
      return { after, actions: externalIdActions(table.name, sellerId, { before, after }) };
    });
  };

/** Stores what both registries confirmed of a user. */
export const userConfirmer =
  (table: Table) => (sellerId: string, userId: string, options: ConfirmOptions) => {
    const { updatedAt } = options;
    return correctUser(table, { sellerId, userId, updatedAt, deadline: currentDeadline() }, (before) =>
      confirmation(table.name, sellerId, { before, options }),
    );
  };
