/** The kinds of groups of a restore, but sellers: what of the live table decides on each. */
import { pacer } from '#admin/stores/batches.ts';
import { auditPut } from '#shared/audit.ts';
import { keyIdKey } from '#shared/table/keys.ts';
import {
  decideBuyer,
  decideKey,
  decideMissingUser,
  decidePresentUser,
  decideRefusal,
  refusalItems,
  userKeys,
} from './decisions.ts';
import type { GroupKind } from './groups.ts';
import type { Run } from './run.ts';
import type { RestoredSeller } from './sellers.ts';

/** A transaction holds 100 items: that of the seller, and at most five of each user. */
const USERS_AT_ONCE = 19;

/**
 * How many users of a segment are read and copied in a second. The users of a seller share a partition, which reads 3,000 and writes 1,000
 * units a second, and a transaction writes two for each item: this leaves two thirds of the reads and 440 writes to the live traffic.
 */
const READ_PER_SECOND = 1000;
const COPIED_PER_SECOND = 280;

/** The pace of the users of one segment. */
export const userPace = () => {
  const [reads, copies] = [pacer(READ_PER_SECOND), pacer(COPIED_PER_SECOND)];
  return (compared: number, copied: number): number => {
    const nowMs = performance.now();
    return Math.max(reads(compared, nowMs), copies(copied, nowMs));
  };
};

export type UserPace = ReturnType<typeof userPace>;

/** The users of one seller, with what points to them. */
export const usersOf = ({ erasures }: Run, seller: RestoredSeller, paceMs: UserPace): GroupKind => {
  const { sellerId, areCountsLow, eventsSince } = seller;
  return {
    kind: 'user',
    atOnce: USERS_AT_ONCE,
    sellerId,
    paceMs,
    aboutOf: ({ id }) => ({ sellerId, id }),
    keysOf: (old) => [old],
    moreKeysOf: (old, at) => userKeys(sellerId, old, at(old)),
    async decide(old, at) {
      const live = at(old);
      const facts = { sellerId, erasures, areCountsLow };
      if (live !== undefined) return decidePresentUser(facts, { old, live }, at);
      return decideMissingUser({ ...facts, events: await eventsSince() }, old, at);
    },
  };
};

export const buyersOf = ({ erasures }: Run): GroupKind => ({
  kind: 'buyer',
  atOnce: 50,
  aboutOf: ({ buyer_id }) => ({ id: buyer_id }),
  keysOf: (old) => [old],
  decide: (old, at) => decideBuyer(erasures, old, at),
});

/** Refusals, of two items each. */
export const refusalsOf = ({ erasures }: Run): GroupKind => ({
  kind: 'refusal',
  atOnce: 25,
  aboutOf: (old) => ({ sellerId: refusalItems(old).sellerId }),
  keysOf: (old) => refusalItems(old).items,
  decide: (old, at) => decideRefusal(erasures, old, at),
});

/** The keys of one seller, each with the item that finds it by its id. One that comes back has an audit record. */
export const keysOf = ({ admin, table }: Run, { sellerId, audit }: RestoredSeller): GroupKind => ({
  kind: 'key',
  atOnce: 25,
  aboutOf: ({ key_id }) => ({ sellerId, id: key_id }),
  keysOf: (old) => [old, keyIdKey(String(old.key_id))],
  decide(old, at) {
    const about = { action: 'key.restored', seller_id: sellerId, key_id: String(old.key_id) };
    const record = auditPut(table, admin.record(about)).Put.Item;
    return decideKey(audit, { old, record }, at);
  },
});
