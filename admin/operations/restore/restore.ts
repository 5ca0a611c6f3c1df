import { isDeepStrictEqual } from 'node:util';
import type { Administration } from '#admin/administration.ts';
import { SEGMENTS, scanSegment } from '#admin/stores/batches.ts';
import { readErasures, readItems } from '#admin/stores/restored-items.ts';
import {
  API_KEY_PREFIX,
  buyerKey,
  ENDED_LINK_PREFIX,
  phoneLinksPartition,
  sellerKey,
  sellerOfPhoneLink,
  usersPartition,
} from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { refusalItems } from './decisions.ts';
import { restoreGroups } from './groups.ts';
import { buyersOf, keysOf, refusalsOf, type UserPace, userPace, usersOf } from './kinds.ts';
import type { Finding } from './report.ts';
import { type RestoreOptions, type Run, startRun } from './run.ts';
import { type RestoredSeller, readSellers, restoreSeller } from './sellers.ts';

type Sellers = ReadonlyMap<string, RestoredSeller>;

/** What the pass over the restored table reads: users, registrations and refusals. */
const READ = [
  ['pk', usersPartition('')],
  ['sk', buyerKey('').sk],
  ['sk', ENDED_LINK_PREFIX],
] as const;

/** Compares and copies what one page of the restored table has. Returns the number of its users. */
const restorePage = async (
  run: Run,
  { sellers, paceMs }: { readonly sellers: Sellers; readonly paceMs: UserPace },
  items: readonly StoredItem[],
): Promise<number> => {
  const kindOf = ({ pk, sk }: StoredItem): string => {
    if (String(pk).startsWith(usersPartition(''))) return String(pk);
    return sk === buyerKey('').sk ? 'buyers' : 'refusals';
  };
  const { buyers = [], refusals = [], ...users } = Object.fromEntries(Map.groupBy(items, kindOf));
  const ofSeller = `${ENDED_LINK_PREFIX}${run.sellerId ?? ''}`;
  if (run.sellerId === undefined) await restoreGroups(run, buyersOf(run), buyers);
  const wanted = refusals.filter(({ sk }) => String(sk).startsWith(ofSeller));
  await restoreGroups(run, refusalsOf(run), wanted);
  let count = 0;
  for (const [pk, olds] of Object.entries(users)) {
    const sellerId = pk.slice(usersPartition('').length);
    const seller = sellers.get(sellerId);
    if (seller !== undefined) {
      await restoreGroups(run, usersOf(run, seller, paceMs), olds);
      count += olds.length;
    } else if (run.sellerId === undefined) {
      for (const { id } of olds) run.report.add({ kind: 'user', state: 'seller_unknown', sellerId, id });
    }
  }
  return count;
};

/** Reads the restored table once, in parts at the same time. If one fails, the others end with its error. */
const restoreItems = async (run: Run, sellers: Sellers, total: number): Promise<void> => {
  let done = 0;
  const restoreSegment = async (segment: number): Promise<void> => {
    const paceMs = userPace();
    for await (const items of scanSegment(run.source, segment, READ)) {
      done += await restorePage(run, { sellers, paceMs }, items);
      run.onProgress?.(Math.min(done, total), total);
    }
  };
  const segments = Array.from({ length: SEGMENTS }, (_, segment) =>
    restoreSegment(segment).catch((error: unknown) => run.fail(error)),
  );
  await Promise.all(segments);
  run.check();
};

/** What an item of a phone is about: a registration, the user of a link, or a refusal. */
const erasableOf = (old: StoredItem): Omit<Finding, 'state'> => {
  if (old.buyer_id !== undefined) return { kind: 'buyer', id: old.buyer_id };
  if (old.user_id === undefined) return { kind: 'refusal', sellerId: refusalItems(old).sellerId };
  return { kind: 'user', sellerId: sellerOfPhoneLink(old.sk), id: old.user_id };
};

/**
 * Lists what is in the table of buyers who were erased beside the copy: their erasure may have looked before it came back. Such an item is
 * as the restored table has it; what the buyer has of later is not.
 */
const listErasedMeanwhile = async ({ source, table, erasures, report }: Run): Promise<void> => {
  const { phones } = await readErasures(source, table);
  for (const hash of phones.difference(erasures.phones)) {
    for (const pk of [phoneLinksPartition(String(hash)), buyerKey(String(hash)).pk]) {
      const olds = await queryAll(source, { pk });
      const at = await readItems(table, olds);
      for (const old of olds.filter((item) => isDeepStrictEqual(at(item), item)))
        report.add({ ...erasableOf(old), state: 'not_erased' });
    }
  }
};

/**
 * Compares a table that DynamoDB restored with the live one, beside traffic, and with `isCopy` puts what is missing there. Nothing that
 * exists changes but the counts of a seller. Sellers come first: users need their counts. Keys come last: a key lets traffic in, which
 * would link a missing person again. After an interruption, run it again.
 */
export const restore = async (admin: Administration, options: RestoreOptions): Promise<void> => {
  const { source, isCopy, sellerId } = options;
  const olds = await readSellers(admin, options);
  const total = olds.reduce((sum, { old }) => sum + countsFrom(old).users - countsFrom(old).removed, 0);
  const details = { from: source.name, seller: sellerId ?? 'all' };
  const record = (action: string) =>
    isCopy ? admin.audit.write(admin.record({ action, details })) : undefined;
  await record('restore.started');
  const run = await startRun(admin, options);
  const sellers = new Map<string, RestoredSeller>();
  for (const seller of olds) {
    run.check();
    const restored = await restoreSeller(run, seller);
    sellers.set(restored.sellerId, restored);
  }
  await restoreItems(run, sellers, total);
  if (isCopy) await listErasedMeanwhile(run);
  for (const seller of sellers.values()) {
    const range = { pk: sellerKey(seller.sellerId).pk, prefix: API_KEY_PREFIX };
    await restoreGroups(run, keysOf(run, seller), await queryAll(source, range));
  }
  await record('restore.ended');
};
