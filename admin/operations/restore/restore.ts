import type { Administration } from '#admin/administration.ts';
import { eraseBuyer } from '#admin/operations/erase-buyer.ts';
import { refusal } from '#admin/refusal.ts';
import { type Audit, readAudit } from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import type { Table } from '#shared/table/client.ts';
import { restoreRefusals } from './refusals.ts';
import { newReport, type Report, type Restoring, readErasures } from './restoring.ts';
import { liveSecretsOf, restoreBuyers, restoreKeys, restoreSeller } from './sellers.ts';
import { lastOrdinalOf, restoreUsers, type SellerToRestore } from './users.ts';

/** The audit keeps the hashes of erased phones as long as point-in-time recovery reaches back. */
const MAX_AGE_MS = 35 * 86_400_000;

export interface RestoreOptions {
  /** The table that DynamoDB restored. */
  readonly source: Table;
  readonly isDry: boolean;
  /** Only this seller, and no buyers. */
  readonly sellerId?: string | undefined;
  /** The hashes of each phone that is to be erased again, under every key still in use. */
  readonly erased?: readonly (readonly string[])[] | undefined;
  readonly signal?: AbortSignal;
  /** Receives how many of all users are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads the sellers of the source with their audits. Throws `bad_input` for the wrong table, or for one that is too old to know who was erased since. */
const readSource = async (admin: Administration, { source, sellerId, erased }: RestoreOptions) => {
  const ids = (await sellerStore(source).list()).map(({ seller_id }) => seller_id);
  const live = await admin.sellers.list();
  const all = [...new Set([...ids, ...live.map(({ seller_id }) => seller_id)])];
  const wanted = sellerId === undefined ? all : ids.filter((id) => id === sellerId);
  if (wanted.length === 0)
    throw refusal(
      'bad_input',
      `${source.name} has no ${sellerId === undefined ? 'sellers' : `seller ${sellerId}`}.`,
    );
  const audits = new Map<string, Audit>();
  for (const id of wanted) audits.set(id, await readAudit(source, admin.table, id));
  const isOfAnother =
    live.some(({ user_count }) => user_count > 0) && !ids.some((id) => audits.get(id)?.all.length);
  if (isOfAnother) {
    throw refusal('bad_input', `${source.name} and ${admin.table.name} have no seller in common.`);
  }
  const newest = [...audits.values()]
    .map(({ restoredAt }) => restoredAt)
    .sort()
    .at(-1);
  if (erased === undefined && !(admin.clock() - Date.parse(String(newest)) < MAX_AGE_MS)) {
    throw refusal(
      'bad_input',
      `The last audit record of ${source.name} is older than 35 days, so erasures since may be forgotten. Name the erased phones with --erased.`,
    );
  }
  return audits;
};

/** Restores sellers, buyers, users, refusals and keys, in this order: a key lets traffic in, which would link a missing person again. */
const restoreAll = async (
  restoring: Restoring,
  audits: ReadonlyMap<string, Audit>,
  { sellerId, onProgress }: RestoreOptions,
): Promise<void> => {
  const sellers: (SellerToRestore & { readonly audit: Audit })[] = [];
  for (const [id, audit] of audits) sellers.push({ ...(await restoreSeller(restoring, id, audit)), audit });
  const total = sellers.reduce((sum, seller) => sum + lastOrdinalOf(seller), 0);
  let done = 0;
  const onUsers = (users: number): void => {
    done += users;
    onProgress?.(Math.floor(done), total);
  };
  if (sellerId === undefined) await restoreBuyers(restoring);
  for (const seller of sellers) await restoreUsers(restoring, seller, onUsers);
  await restoreRefusals(restoring, new Set(sellers.map((seller) => seller.sellerId)));
  const liveSecrets = liveSecretsOf(restoring);
  for (const { sellerId: id, audit } of sellers) await restoreKeys(restoring, id, { audit, liveSecrets });
};

/**
 * Brings back what the live table has lost, from a table that DynamoDB restored, beside traffic. It overwrites only users that no event
 * explains, makes nothing valid that was revoked, and lowers no count. After an interruption, run it again. `isDry`: only reports.
 */
export const restore = async (
  admin: Administration,
  options: RestoreOptions,
): Promise<{ report: Report; isAuditKnown: boolean }> => {
  const { source, isDry, sellerId, erased = [], signal } = options;
  const audits = await readSource(admin, options);
  const from = { from: source.name, seller: sellerId ?? 'all' };
  if (!isDry) {
    await admin.audit.write(admin.record({ action: 'restore.started', details: from }));
    for (const hashes of erased) await eraseBuyer(admin, hashes);
  }
  const report = newReport();
  const erasures = await readErasures(admin, source, erased.flat());
  await restoreAll({ admin, source, isDry, report, erasures, signal }, audits, options);
  if (!isDry)
    await admin.audit.write(
      admin.record({ action: 'restore.ended', details: { ...from, ...report.counts } }),
    );
  return { report, isAuditKnown: [...audits.values()].every(({ since }) => since !== undefined) };
};
