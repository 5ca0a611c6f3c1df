/**
 * What a restore decides. `old` is an item of the restored table, `live` the item of the live table now. Pure functions: the user item is
 * the truth, the person item, the phone link and the external id are derived from it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LastEvent } from '#admin/stores/restored-items.ts';
import type { ApiKey, KeySecret, SecretSummary } from '#shared/api-keys/api-key-item.ts';
import type { AuditRecord } from '#shared/audit.ts';
import { externalIdKey, type ItemKey, personKey, phoneLinkKey, refusalKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';

/** What a person has to look at, in the order of the report. */
export const LISTED = {
  seller_suspended_again: 'The audit says that the seller was suspended. It is suspended again.',
  key_revoked_again: 'The audit says that the key was revoked. It is revoked again.',
  key_older: 'The key is older than its audit. Revoke it and issue another.',
  key_pending: 'The key waits for `keys confirm`: it may have changed since.',
  seller_differs: 'Check the name, status and templates of the seller: the audit does not explain them.',
  lost: 'The user was linked since and is missing. Copy from a later time.',
  correction_lost: 'A correction since is lost: the user is as it was before.',
  ordinal_taken: 'Another user has its place. The user was not restored.',
  link_refused: 'The buyer has ended the link since. The user was not restored.',
  linked_again: 'The person is linked under another id. The user was not restored.',
  external_id_taken: 'Another user has its external id.',
  changed_since: 'The user was corrected since and stays as it is.',
} as const;

export type ListedReason = keyof typeof LISTED;

/** Everything that decides on the user of one ordinal. */
export interface UserState {
  readonly ordinal: number;
  readonly old: StoredItem | undefined;
  readonly live: StoredItem | undefined;
  /** By its tombstone, or by the index of removals. */
  readonly isRemoved: boolean;
  readonly lastEventOf: (userId: string) => LastEvent | undefined;
  /** The numbers of the events since the restore point that expired: after the first, before the second. */
  readonly expiredEvents: readonly [number, number];
}

/** The user that an ordinal must have. `event`: it changes by the restore. */
export interface WantedUser {
  readonly user: StoredItem;
  readonly event?: 'user.linked' | 'user.updated';
  readonly listed?: ListedReason | undefined;
}

/** Returns a user item if it is that of the ordinal: an overwritten id is damage. */
const userAt = (item: StoredItem | undefined, ordinal: number): StoredItem | undefined =>
  item !== undefined && ordinalOf(String(item.id)) === ordinal ? item : undefined;

/** Returns whether the change that the live user names as its last one is one of its events since the restore point. */
const isExplained = (
  live: StoredItem,
  last: LastEvent | undefined,
  [after, before]: readonly [number, number],
) =>
  last === undefined
    ? Number(live.last_event) > after && Number(live.last_event) < before
    : live.last_event === last.sequence;

/** Returns the user that an ordinal must have; undefined if it has none. */
export const wantedUser = (state: UserState): WantedUser | { readonly listed: ListedReason } | undefined => {
  const { ordinal, isRemoved, lastEventOf, expiredEvents } = state;
  const [old, live] = [userAt(state.old, ordinal), userAt(state.live, ordinal)];
  const known = live ?? old;
  const last = known && lastEventOf(String(known.id));
  if (known === undefined || isRemoved || last?.isRemoval === true) return undefined;
  if (live === undefined) {
    return { user: known, event: 'user.linked', listed: last && 'correction_lost' };
  }
  if (old === undefined) return { user: live };
  if (old.id !== live.id) return { listed: 'ordinal_taken' };
  const isSame = isDeepStrictEqual({ ...old, last_event: live.last_event }, live);
  if (isExplained(live, last, expiredEvents)) {
    return { user: live, listed: isSame ? undefined : 'changed_since' };
  }
  if (isSame && last === undefined && live.last_event === old.last_event) return { user: live };
  return { user: old, event: 'user.updated', listed: last && 'correction_lost' };
};

/** The keys of the items that are derived from a user. */
export const pointerKeys = (sellerId: string, { sk, person_hash, phone_hash, external_id }: StoredItem) => ({
  person: personKey(sellerId, String(person_hash)),
  phoneLink: phoneLinkKey(String(phone_hash), sellerId, Number(sk)),
  ...(external_id === undefined ? {} : { externalId: externalIdKey(sellerId, String(external_id)) }),
});

/** The keys of the two items that hold the refusal of a buyer, after it ended a link. */
export const refusalKeys = (sellerId: string, { person_hash, phone_hash }: StoredItem) => [
  personKey(sellerId, String(person_hash)),
  refusalKey(String(phone_hash), sellerId, String(person_hash)),
];

/** Returns the user that an item names: a person item, a phone link or an external id. */
export const userNamedIn = (item: StoredItem | undefined): string => String(item?.user_id);

/** The live items at the keys of a wanted user, and the live users that they name. */
export interface Pointers {
  readonly itemAt: (key: ItemKey) => StoredItem | undefined;
  readonly userOf: (userId: string) => StoredItem | undefined;
}

/** The writes that make a wanted user complete. Undefined: it cannot be restored. */
export interface UserPlan extends WantedUser {
  readonly puts: readonly StoredItem[];
}

/** Returns what makes a wanted user complete, with a person and an external id that no other user has. */
export const planOf = (
  sellerId: string,
  wanted: WantedUser,
  { itemAt, userOf }: Pointers,
): UserPlan | { readonly listed: ListedReason } => {
  const isHeldByOther = (key: ItemKey, attribute: string): boolean => {
    const holder = userOf(userNamedIn(itemAt(key)));
    return (
      holder !== undefined && holder.id !== wanted.user.id && holder[attribute] === wanted.user[attribute]
    );
  };
  const { person } = pointerKeys(sellerId, wanted.user);
  const isRefused = refusalKeys(sellerId, wanted.user).some((key) => itemAt(key)?.refused_at !== undefined);
  if (wanted.event === 'user.linked' && isRefused) return { listed: 'link_refused' };
  if (isHeldByOther(person, 'person_hash')) return { listed: 'linked_again' };
  const { externalId } = pointerKeys(sellerId, wanted.user);
  const isTaken = externalId !== undefined && isHeldByOther(externalId, 'external_id');
  const { external_id, ...withoutExternalId } = wanted.user;
  const user = isTaken && wanted.event !== undefined ? withoutExternalId : wanted.user;
  const keys = pointerKeys(sellerId, user);
  const birth_day = parseBirthDate(String(user.birth_date))?.isoDay;
  const { phone_hash } = user;
  const items = [
    { ...person, ordinal: Number(user.sk), user_id: user.id, phone_hash, birth_day },
    { ...keys.phoneLink, user_id: user.id },
    ...(keys.externalId === undefined || isTaken ? [] : [{ ...keys.externalId, user_id: user.id }]),
  ];
  return {
    ...wanted,
    user,
    listed: isTaken ? 'external_id_taken' : wanted.listed,
    puts: items.filter((item) => !isDeepStrictEqual(item, itemAt(item))),
  };
};

/** The highest counts that the items of a seller prove. */
export interface CountFloor {
  readonly user_count: number;
  readonly removed_count: number;
  readonly event_count: number;
}

/** Returns the counts of a seller, none of them below the floor; undefined if they are so already. */
export const raisedCounts = (seller: StoredItem, floor: CountFloor): CountFloor | undefined => {
  const raised = (name: keyof CountFloor) => Math.max(Number(seller[name] ?? 0), floor[name]);
  const counts = {
    user_count: raised('user_count'),
    removed_count: raised('removed_count'),
    event_count: raised('event_count'),
  };
  return isDeepStrictEqual({ ...seller, ...counts }, seller) ? undefined : counts;
};

/** Returns the status that a seller has by the audit records of its changes; undefined if they tell of none. */
export const statusIn = (records: readonly AuditRecord[]): 'active' | 'suspended' | undefined => {
  const last = records.findLast(({ action }) => /^seller\.(?:suspended|resumed)$/.test(action));
  return last && (last.action === 'seller.suspended' ? 'suspended' : 'active');
};

/** Returns a seller that is missing, with the status and the name that the audit says it got since. */
export const restoredSeller = (
  old: StoredItem,
  since: readonly AuditRecord[],
  floor: CountFloor,
): StoredItem => {
  const status = statusIn(since);
  const name = since.findLast(({ action }) => action === 'seller.renamed')?.details.to;
  return {
    ...old,
    ...raisedCounts(old, floor),
    ...(status === undefined ? {} : { status }),
    ...(name === undefined ? {} : { name }),
  };
};

/** Returns whether the audit says that a key was revoked, or withdrawn before it was valid. */
export const isRevoked = (keyId: string, records: readonly AuditRecord[]): boolean =>
  records.some(({ action, key_id }) => key_id === keyId && /^key\.(?:revoked|withdrawn)$/.test(action));

/** Returns whether a key lacks a change that its audit records since the restore point tell of: each of them has raised its version. */
export const isOlder = (
  key: ApiKey,
  old: ApiKey | undefined,
  since: readonly AuditRecord[] = [],
): boolean => {
  const records = since.filter(({ key_id, action }) => key_id === key.key_id && /^key\./.test(action));
  const restored = records.findLastIndex(({ action }) => action === 'key.restored');
  return old !== undefined && key.version < old.version + records.length - restored - 1;
};

/** The items of the secrets of a missing key in the live table, by their hashes. */
export type LiveSecrets = ReadonlyMap<string, KeySecret>;

/** Returns the secrets of a key that changed since: those of the live table, and of the old ones those that no rotation has ended. */
const secretsOf = (old: ApiKey, rotations: readonly AuditRecord[], live: LiveSecrets): SecretSummary[] => {
  const [newest] = old.secrets;
  const found = [...live].map(([hash, { number, expires_at }]): SecretSummary => {
    const rotation = rotations[number - Number(newest?.number) - 1];
    return {
      prefix: String(newest?.prefix),
      last_four: String(rotation?.details.last_four),
      created_at: String(rotation?.at),
      created_by: rotation?.actor.startsWith('key:') ? 'seller' : 'admin',
      ...old.secrets.find((secret) => secret.hash === hash),
      ...{ hash, number, ...(expires_at === undefined ? {} : { ends_at: expires_at }) },
    };
  });
  const kept = rotations.length === 0 ? old.secrets.filter(({ hash }) => !live.has(hash)) : [];
  return [...found, ...kept].sort((a, b) => b.number - a.number);
};

/** What is known of a missing key. `changes`: the audit records of it since; undefined: the live table has no audit of that time. */
export interface KeyKnowledge {
  readonly changes: readonly AuditRecord[] | undefined;
  readonly live: LiveSecrets;
  readonly now: string;
}

/** Returns a key that is missing: as it was if nothing has changed it, else pending until an admin confirms it. */
export const restoredKey = (old: ApiKey, { changes, live, now }: KeyKnowledge): ApiKey => {
  if (old.status !== 'active' || changes?.length === 0) return old;
  const rotations = changes?.filter(({ action }) => action === 'key.rotated') ?? [];
  const [current] = live.values();
  const { gateway_key_id, unflushed_since, ...key } = old;
  return {
    ...key,
    ...(current && { scopes: current.scopes, plan: current.plan, limits: current.limits }),
    secrets: secretsOf(old, rotations, live),
    status: 'pending',
    restored_at: now,
  };
};
