/**
 * The users of one seller in a restore. The user item is the truth; the person item, the phone link and the external id are derived from
 * it. All is written beside traffic, by transactions that no change of the seller precedes.
 */
import { isDeepStrictEqual } from 'node:util';
import { removeUser } from '#admin/operations/users.ts';
import { type EventsAfter, readItems } from '#admin/stores/restored-items.ts';
import { transact } from '#admin/stores/transactions.ts';
import { eventPut } from '#shared/events/event.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { ifEqual, settingIfEqual } from '#shared/table/conditions.ts';
import {
  externalIdKey,
  type ItemKey,
  personKey,
  phoneLinkKey,
  refusalKey,
  removalBlockKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import { chunksOf, getItem } from '#shared/table/reads.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';
import { blockOf, isRemovedIn } from '#shared/users/removals.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { personItem } from '#shared/users/user-item.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';
import type { ListedReason, Restoring } from './restoring.ts';

/** Ordinals that are read at once. */
const WINDOW = 400;

/** A transaction holds 100 items: that of the seller, and at most five of each user. */
const USERS_AT_ONCE = 16;

/** What the report counts, by what a transaction does with a user. */
const NAMES = { 'user.linked': 'users', 'user.updated': 'users put back', complete: 'users completed' };

/** How long one transaction is tried again beside the changes of a busy seller. */
const TIMEOUT_MS = 60_000;

/** The run of a restore for one seller. */
export type SellerRun = Restoring & {
  readonly sellerId: string;
  /** Its item now, or the one that a dry run would write. */
  readonly seller: StoredItem;
  /** The highest ordinal of its users, now or before. */
  readonly users: number;
  readonly events: EventsAfter;
};

/** The user that an ordinal must have. `event`: if the restore changes it. `isErased`: it is removed after that. `isLost`: the table lacks it. */
interface WantedUser {
  readonly user?: StoredItem;
  readonly event?: 'user.linked' | 'user.updated';
  readonly isErased?: boolean;
  readonly isLost?: boolean;
  readonly listed?: readonly [reason: ListedReason, userId: unknown] | undefined;
}

/** Decides on one ordinal, by its items in the restored and the live table. */
const wantedUser = (
  { erasures, events }: SellerRun,
  ordinal: number,
  { old, live }: { readonly old: StoredItem | undefined; readonly live: StoredItem | undefined },
): WantedUser => {
  const last = events.last.get(ordinal);
  if (last?.type === 'user.removed') return {};
  if (live === undefined && last && last.user_id !== old?.id) return { listed: ['lost', last.user_id] };
  if (old === undefined) return live === undefined ? {} : { user: live };
  if (live !== undefined && old.id !== live.id) return { user: live, listed: ['ordinal_taken', old.id] };
  const listed = last && (['correction_lost', old.id] as const);
  const isKept =
    live !== undefined && (events.explains(live) || (last === undefined && isDeepStrictEqual(old, live)));
  const user = isKept ? live : old;
  const isErased = erasures.hasPhone(user.phone_hash);
  if (live === undefined)
    return isErased ? { user, isErased, isLost: true } : { user, event: 'user.linked', listed };
  if (!isKept) return { user, event: 'user.updated', isErased, listed };
  const isSame = isDeepStrictEqual({ ...old, last_event: live.last_event }, live);
  return { user, isErased, listed: isSame ? undefined : ['changed_since', live.id] };
};

/** Reads the wanted users of ordinals from both tables. */
const readWanted = async (run: SellerRun, ordinals: readonly number[]): Promise<WantedUser[]> => {
  const keyOf = (ordinal: number) => userKey(run.sellerId, ordinal);
  const tombstoneOf = (ordinal: number) => tombstoneKey(run.sellerId, ordinal);
  const blockKeyOf = (ordinal: number) => removalBlockKey(run.sellerId, blockOf(ordinal));
  const [oldAt, liveAt] = await Promise.all([
    readItems(run.source, ordinals.map(keyOf)),
    readItems(
      run.table,
      [keyOf, tombstoneOf, blockKeyOf].flatMap((key) => ordinals.map(key)),
    ),
  ]);
  return ordinals.map((ordinal) => {
    const bitmap = liveAt(blockKeyOf(ordinal))?.removed_ordinals as Uint8Array | undefined;
    if (liveAt(tombstoneOf(ordinal)) !== undefined || isRemovedIn(bitmap, ordinal)) return {};
    // An overwritten id is damage.
    const valid = (item?: StoredItem) => (ordinalOf(String(item?.id)) === ordinal ? item : undefined);
    return wantedUser(run, ordinal, {
      old: valid(oldAt(keyOf(ordinal))),
      live: valid(liveAt(keyOf(ordinal))),
    });
  });
};

/** Returns the items that are derived from a user: the person, the phone link and, if it has one, the external id. */
export const pointersOf = (sellerId: string, user: StoredItem): StoredItem[] => {
  const { id: user_id, sk, phone_hash, external_id } = user;
  const birthDay = String(parseBirthDate(String(user.birth_date))?.isoDay);
  const externalIds = external_id === undefined ? [] : [externalIdKey(sellerId, String(external_id))];
  const keys = [phoneLinkKey(String(phone_hash), sellerId, Number(sk)), ...externalIds];
  return [personItem(sellerId, user, birthDay), ...keys.map((key) => ({ ...key, user_id }))];
};

/** A wanted user, if it can be restored, and the items that are derived from it and differ. */
type UserPlan = WantedUser & { readonly puts: readonly StoredItem[] };

/** Plans what makes users complete. One that changes gets no person and no external id that another user has. */
const planAll = async (
  { table, sellerId }: SellerRun,
  wanted: readonly WantedUser[],
): Promise<UserPlan[]> => {
  const users = wanted.flatMap(({ user }) => (user === undefined ? [] : [user]));
  const refusalOf = ({ phone_hash, person_hash }: StoredItem) =>
    refusalKey(String(phone_hash), sellerId, String(person_hash));
  const pointers = users.flatMap((user) => pointersOf(sellerId, user));
  const itemAt = await readItems(table, [...pointers, ...users.map(refusalOf)]);
  const holderKey = (key: StoredItem | ItemKey) =>
    userKey(sellerId, ordinalOf(String(itemAt(key)?.user_id)) ?? 0);
  const userAt = await readItems(table, pointers.map(holderKey));

  return wanted.map((about): UserPlan => {
    const { user, event, listed } = about;
    if (user === undefined) return { listed, puts: [] };
    const isTaken = (key: ItemKey, attribute: string): boolean => {
      const holder = userAt(holderKey(key));
      if (event === undefined || holder === undefined || holder.id === user.id) return false;
      return holder.id === itemAt(key)?.user_id && holder[attribute] === user[attribute];
    };
    const { external_id, ...withoutExternalId } = user;
    const person = personKey(sellerId, String(user.person_hash));
    const isRefused = [person, refusalOf(user)].some((key) => itemAt(key)?.refused_at !== undefined);
    if ((isRefused && event === 'user.linked') || isTaken(person, 'person_hash')) {
      return { listed: ['person_taken', user.id], puts: [] };
    }
    const isWithout = isTaken(externalIdKey(sellerId, String(external_id)), 'external_id');
    const kept = isWithout ? withoutExternalId : user;
    const puts = pointersOf(sellerId, kept).filter((item) => !isDeepStrictEqual(item, itemAt(item)));
    return { user: kept, event, listed: isWithout ? ['external_id_taken', user.id] : listed, puts };
  });
};

/** Writes plans in one transaction with the counts and the events. False: a user of the seller has changed since the counts were read. */
const write = ({ table, admin, sellerId }: SellerRun, event_count: number, plans: readonly UserPlan[]) => {
  const { name: TableName } = table;
  const put = (Item: StoredItem): TransactItem => ({ Put: { TableName, Item } });
  const changes = plans.filter(({ event }) => event !== undefined);
  const items = changes.flatMap(({ user, event: type = 'user.updated' }, index) => {
    const last_event = event_count + index + 1;
    const about = { userId: String(user?.id), occurredAt: admin.now() };
    const event = type === 'user.linked' ? ({ type, reason: 'restore' } as const) : { type };
    return [eventPut(table, sellerId, last_event, { ...about, ...event }), put({ ...user, last_event })];
  });
  const raised = { event_count: event_count + changes.length };
  const Update = {
    TableName,
    Key: sellerKey(sellerId),
    ...settingIfEqual(raised, ['event_count', event_count]),
  };
  return transact(table, [{ Update }, ...items, ...plans.flatMap(({ puts }) => puts.map(put))]);
};

/** Restores some users, in as many transactions as they need: those that change by it, or what is derived from the others. */
const restoreSome = async (
  run: SellerRun,
  ordinals: readonly number[],
  isChange: boolean,
): Promise<WantedUser[]> => {
  const { isDry, table, sellerId, events } = run;
  const { wanted, planned, open, plans } = await retryUntil(performance.now() + TIMEOUT_MS, async () => {
    run.check();
    // Read first: whatever changes after it is noticed by the condition of the write.
    const counts = countsFrom((await getItem(table, sellerKey(sellerId))) ?? run.seller);
    await events.readTo(counts.events);
    const wanted = await readWanted(run, ordinals);
    const some = wanted.filter(({ event, isLost }) => (event !== undefined) === isChange && !isLost);
    const planned = await planAll(run, some);
    const open = planned.filter(({ event, puts }) => event !== undefined || puts.length > 0);
    const plans = isDry ? open : open.slice(0, USERS_AT_ONCE);
    const isWritten = isDry || plans.length === 0 || (await write(run, counts.events, plans));
    return isWritten ? { wanted, planned, open, plans } : undefined;
  });
  for (const { listed } of planned) if (listed !== undefined) run.list(...listed, sellerId);
  for (const { event = 'complete' } of plans) run.count(NAMES[event]);
  return open.length > plans.length ? restoreSome(run, ordinals, isChange) : wanted;
};

/**
 * Removes a user whose buyer was erased. One that the table has lost does not come back for it: what points to it goes first, since after the
 * removal no further run would look at it.
 */
const eraseUser = async ({ admin, table, sellerId }: SellerRun, user: StoredItem, isLost: boolean) => {
  const { id, sk, phone_hash } = user;
  for (const { pk, sk } of isLost ? pointersOf(sellerId, user) : []) {
    const Delete = { TableName: table.name, Key: { pk, sk }, ...ifEqual('user_id', id) };
    await transact(table, [{ Delete }]);
  }
  const lost = isLost ? { id, sk, phone_hash } : undefined;
  await removeUser(admin, { sellerId, userId: String(id), reason: 'erasure', lost });
};

/**
 * Restores the users of a seller, oldest first: what is derived from users as they are, then damaged and missing users, so that nothing
 * is taken from a user that has it. Then removes those whose buyers were erased, so that counts and events tell of it. `onUsers` receives
 * numbers of users that are done.
 */
export const restoreUsers = async (run: SellerRun, onUsers: (users: number) => void): Promise<void> => {
  const all = Array.from({ length: run.users }, (_, index) => index + 1);
  for (const isChange of [false, true]) {
    for (const ordinals of chunksOf(all, WINDOW)) {
      for (const { user, isErased, isLost = false } of await restoreSome(run, ordinals, isChange)) {
        if (user === undefined || !isErased || !isChange) continue;
        await run.change('users erased again', 1, () => eraseUser(run, user, isLost));
      }
      onUsers(ordinals.length / 2);
    }
  }
};
