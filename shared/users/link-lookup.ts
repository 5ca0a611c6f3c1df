import type { Table } from '#shared/table/client.ts';
import { buyerKey, personCheckKey, personKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { checkRecordFrom } from './person-check-store.ts';
import type { CheckRecord } from './person-checks.ts';
import { type Person, personFromItem } from './user-item.ts';

/** A person, a phone and a seller, by their keyed hashes: under the current key first, then under each older one. */
export interface LinkHashes {
  readonly sellerId: string;
  readonly personHashes: readonly [string, ...string[]];
  readonly phoneHashes: readonly [string, ...string[]];
}

/** What the table holds for a requested link. */
export interface KnownLink {
  /** The person, if the seller has linked it. */
  readonly person: Person | undefined;
  /** Whether the phone is a registered buyer's. */
  readonly isRegistered: boolean;
  readonly checks: CheckRecord;
}

/** Reads in one call what decides on a link. */
export const linkLookup =
  (table: Table) =>
  async ({ sellerId, personHashes, phoneHashes }: LinkHashes): Promise<KnownLink> => {
    const personKeys = personHashes.map((hash) => personKey(sellerId, hash));
    const buyerKeys = phoneHashes.map(buyerKey);
    const checkKey = personCheckKey(sellerId, personHashes[0]);
    const items = await batchGet(table, [...personKeys, ...buyerKeys, checkKey]);
    const person = personKeys.map((key) => itemOf(items, key)).find((item) => item !== undefined);
    return {
      person: person && personFromItem(person),
      isRegistered: buyerKeys.some((key) => itemOf(items, key) !== undefined),
      checks: checkRecordFrom(itemOf(items, checkKey)),
    };
  };

export type LinkLookup = ReturnType<typeof linkLookup>;
