import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { SEGMENTS, scanSegment } from '#admin/stores/batches.ts';
import { type Audit, readAudit } from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { buyerKey, REFUSAL_PREFIX, usersPartition } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { eraseAgain, restoreBuyers, restoreRefusals } from './buyers.ts';
import { restoreKeys } from './keys.ts';
import { type RestoreOptions, type Restoring, restoring } from './restoring.ts';
import { restoreSeller, type SellerRun } from './sellers.ts';
import { restoreUsers, type UserPace, userPace } from './users.ts';

/** The audit keeps the hashes of erased phones as long as point-in-time recovery reaches back. */
const MAX_AGE_MS = 35 * 86_400_000;

/** Reads the sellers of the source with their audits. Throws `bad_input` for the wrong table, or for one that is too old to know who was erased since. */
const readSource = async (admin: Administration, { source, sellerId, erased }: RestoreOptions) => {
  const all = await sellerStore(source).list();
  const sellers = all.filter(({ seller_id }) => sellerId === undefined || seller_id === sellerId);
  const refuse = (reason: string) => refusal('bad_input', `${source.name} ${reason}`);
  if (sellers.length === 0) {
    throw refuse(`has no ${sellerId === undefined ? 'sellers' : `seller ${sellerId}`}.`);
  }
  const audits = new Map<string, Audit>();
  for (const { seller_id } of sellers) {
    audits.set(seller_id, await readAudit(source, admin.table, seller_id));
  }
  const isKnown = [...audits.values()].some((audit) => audit.all.length > 0);
  if (!isKnown && (await admin.sellers.list()).length > 0) {
    throw refuse(`and ${admin.table.name} have no seller in common.`);
  }
  const newest = Math.max(...[...audits.values()].map(({ restoredAtMs }) => restoredAtMs));
  if (erased === undefined && admin.clock() - newest >= MAX_AGE_MS) {
    throw refuse(
      'has no audit record of the last 35 days, so erasures since may be forgotten. Name the erased phones with --erased.',
    );
  }
  const users = sellers.reduce((sum, { user_count, removed_count }) => sum + user_count - removed_count, 0);
  return { audits, users };
};

/** What the pass over the restored table reads: users, registrations and refusals. */
const READ = [
  ['pk', usersPartition('')],
  ['sk', buyerKey('').sk],
  ['sk', REFUSAL_PREFIX],
] as const;

/** Compares and copies what one page of the restored table has. Returns the number of its users. */
const restorePage = async (
  run: Restoring,
  { items, sellers, pace }: { items: StoredItem[]; sellers: ReadonlyMap<string, SellerRun>; pace: UserPace },
): Promise<number> => {
  const kinds = Map.groupBy(items, ({ pk, sk }) => {
    if (String(pk).startsWith(usersPartition(''))) return String(pk);
    return sk === buyerKey('').sk ? 'buyers' : 'refusals';
  });
  const { buyers = [], refusals = [], ...users } = Object.fromEntries(kinds);
  if (run.sellerId === undefined) await restoreBuyers(run, buyers);
  await restoreRefusals(run, refusals);
  let count = 0;
  for (const [pk, olds] of Object.entries(users)) {
    const seller = sellers.get(pk.slice(usersPartition('').length));
    if (seller !== undefined) {
      await restoreUsers(seller, olds, pace);
      count += olds.length;
    } else if (run.sellerId === undefined) {
      run.report.add({ kind: 'seller', state: 'seller_unknown', id: pk.slice(usersPartition('').length) });
    }
  }
  return count;
};

/** Reads the restored table once, in parts at the same time. If one fails, the others end with its error. */
const restoreItems = async (
  run: Restoring,
  sellers: ReadonlyMap<string, SellerRun>,
  total: number,
): Promise<void> => {
  let done = 0;
  const restoreSegment = async (segment: number): Promise<void> => {
    const pace = userPace();
    for await (const items of scanSegment(run.source, segment, READ)) {
      done += await restorePage(run, { items, sellers, pace });
      run.onProgress?.(Math.min(done, total), total);
    }
  };
  const segments = Array.from({ length: SEGMENTS }, (_, segment) =>
    restoreSegment(segment).catch((error: unknown) => run.fail(error)),
  );
  await Promise.all(segments);
  run.check();
};

/**
 * Compares a table that DynamoDB restored with the live one, beside traffic, and with `isCopy` puts what is missing there. Nothing that
 * exists changes but the counts of a seller. Sellers come first: users need their counts. Keys come last: a key lets traffic in, which
 * would link a missing person again. After an interruption, run it again.
 */
export const restore = async (admin: Administration, options: RestoreOptions): Promise<void> => {
  const { source, isCopy, sellerId } = options;
  const { audits, users } = await readSource(admin, options);
  const details = { from: source.name, seller: sellerId ?? 'all' };
  const record = (action: string) =>
    isCopy ? admin.audit.write(admin.record({ action, details })) : undefined;
  await record('restore.started');
  const run = await restoring(admin, options);
  const sellers = new Map<string, SellerRun>();
  for (const [id, audit] of audits) {
    run.check();
    sellers.set(id, await restoreSeller(run, id, audit));
  }
  await restoreItems(run, sellers, users);
  if (isCopy) await eraseAgain(run);
  await restoreKeys(sellers.values());
  await record('restore.ended');
};
