import type { Limit, LimitStates } from '#shared/rate-limits/limit.ts';
import { limitKey, statesIn } from '#shared/rate-limits/rate-limiter.ts';
import type { KeyedHash, KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey, externalIdKey, type ItemKey, personKey, userKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { NewUser } from './schema.ts';
import { ordinalOf } from './user-id.ts';
import { type EndedLink, endedLinkFrom, type Person, personFrom } from './user-item.ts';

/** A seller, and a person and a phone by their keyed hashes. */
export interface LinkHashes {
  readonly sellerId: string;
  readonly person: KeyedHash;
  readonly phone: KeyedHash;
}

interface PersonLookup extends LinkHashes {
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** Limits to read, and the time of their windows. */
  readonly limits: readonly Limit[];
  readonly nowMs: number;
}

export interface FoundPerson {
  /** The seller has linked the person. */
  readonly linked: Person | undefined;
  /** The link with the person that the buyer ended. */
  readonly ended: EndedLink | undefined;
  /** The registration of the buyer. */
  readonly buyer: ItemKey | undefined;
  readonly isExternalIdTaken: boolean;
  readonly user: StoredItem | undefined;
  readonly limitStates: LimitStates;
}

/** Hashes the person and the phone of a request. */
export const hashLink = async (
  hashes: Pick<KeyedHashes, 'person' | 'phone'>,
  sellerId: string,
  { national_id, phone }: Pick<NewUser, 'national_id' | 'phone'>,
): Promise<LinkHashes> => {
  const [personHash, phoneHash] = await Promise.all([
    hashes.person(sellerId, national_id),
    hashes.phone(phone),
  ]);
  return { sellerId, person: personHash, phone: phoneHash };
};

/** Reads in one call what decides on a link or a check of a user. */
export const personReader =
  (table: Table) =>
  async (lookup: PersonLookup): Promise<FoundPerson> => {
    const { sellerId, person, phone, externalId, userId, limits, nowMs } = lookup;
    const personKeys = person.keys((hash) => personKey(sellerId, hash));
    const buyerKeys = phone.keys(buyerKey);
    const externalKeys = externalId === undefined ? [] : [externalIdKey(sellerId, externalId)];
    const userKeys = userId === undefined ? [] : [userKey(sellerId, ordinalOf(userId) ?? 0)];
    const countKeys = limits.map((limit) => limitKey(limit, nowMs));
    const keys = [...personKeys, ...buyerKeys, ...externalKeys, ...userKeys, ...countKeys];
    const items = await batchGet(table, keys);
    const persons = personKeys.map((key) => itemOf(items, key));
    const linked = persons.find((item) => item?.user_id !== undefined);
    const ended = persons.find((item) => item?.ended_at !== undefined);
    return {
      linked: linked && personFrom(linked),
      ended: ended && endedLinkFrom(ended),
      buyer: buyerKeys.find((key) => itemOf(items, key) !== undefined),
      isExternalIdTaken: externalKeys.some((key) => itemOf(items, key) !== undefined),
      user: userKeys.map((key) => itemOf(items, key)).find((item) => item?.id === userId),
      limitStates: statesIn(items, limits, nowMs),
    };
  };
