import type { Administration } from '#admin/administration.ts';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { refusal } from '#admin/refusal.ts';
import { type Audit, readAudit } from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { restoreBuyers } from './buyers.ts';
import { type Report, type RestoreOptions, readErasures, restoring } from './restoring.ts';
import { restoreKeys, restoreSeller } from './sellers.ts';
import { restoreUsers, type SellerRun } from './users.ts';

/** The audit keeps the hashes of erased phones as long as point-in-time recovery reaches back. */
const MAX_AGE_MS = 35 * 86_400_000;

/** Reads the sellers of the source with their audits. Throws `bad_input` for the wrong table, or for one that is too old to know who was erased since. */
const readSource = async (admin: Administration, { source, sellerId, erased }: RestoreOptions) => {
  const ids = (await sellerStore(source).list()).map(({ seller_id }) => seller_id);
  const live = await admin.sellers.list();
  const all = [...new Set([...ids, ...live.map(({ seller_id }) => seller_id)])];
  const wanted = sellerId === undefined ? all : ids.filter((id) => id === sellerId);
  const refuse = (reason: string) => refusal('bad_input', `${source.name} ${reason}`);
  if (wanted.length === 0)
    throw refuse(`has no ${sellerId === undefined ? 'sellers' : `seller ${sellerId}`}.`);
  const audits = new Map<string, Audit>();
  for (const id of wanted) audits.set(id, await readAudit(source, admin.table, id));
  const isKnown = ids.some((id) => audits.get(id)?.all.length);
  if (!isKnown && live.some(({ user_count }) => user_count > 0)) {
    throw refuse(`and ${admin.table.name} have no seller in common.`);
  }
  const newest = Math.max(...[...audits.values()].map(({ restoredAtMs }) => restoredAtMs));
  if (erased === undefined && admin.clock() - newest >= MAX_AGE_MS) {
    throw refuse(
      'has no audit record of the last 35 days, so erasures since may be forgotten. Name the erased phones with --erased.',
    );
  }
  return audits;
};

/** Restores sellers, users, buyers and keys, in this order: a key lets traffic in, which would link a missing person again. */
const restoreAll = async (
  admin: Administration,
  options: RestoreOptions,
  { audits, report }: { readonly audits: ReadonlyMap<string, Audit>; readonly report: Report },
): Promise<{ readonly erasures: number }> => {
  const run = await restoring(admin, options, report);
  const sellers: SellerRun[] = [];
  for (const [id, audit] of audits) sellers.push(await restoreSeller(run, id, audit));
  const total = sellers.reduce((sum, seller) => sum + seller.users, 0);
  let done = 0;
  for (const seller of sellers) {
    await restoreUsers(seller, (users) => {
      done += users;
      options.onProgress?.(Math.floor(done), total);
    });
  }
  await restoreBuyers(run);
  await restoreKeys(run, audits);
  return { erasures: run.erasures.count };
};

/**
 * Brings back what the live table has lost, from a table that DynamoDB restored, beside traffic. It overwrites only users that no event
 * explains, makes nothing valid that was revoked, and lowers no count. An erasure beside it makes it run once more, which removes what it
 * restored of the buyer. After an interruption, run it again. `isDry`: only reports.
 */
export const restore = async (admin: Administration, options: RestoreOptions): Promise<Report> => {
  const { source, isDry, sellerId, erased = [] } = options;
  const audits = await readSource(admin, options);
  const from = { from: source.name, seller: sellerId ?? 'all' };
  const record = (action: string, details: typeof from) =>
    isDry ? undefined : admin.audit.write(admin.record({ action, details }));
  await record('restore.started', from);
  if (!isDry) for (const phone of erased) await eraseBuyer(admin, phone);
  const report: Report = { counts: {}, listed: new Map() };
  for (let isAgain = true; isAgain; ) {
    const { erasures } = await restoreAll(admin, options, { audits, report });
    isAgain = !isDry && (await readErasures(admin, options)).count > erasures;
  }
  await record('restore.ended', { ...from, ...report.counts });
  return report;
};
