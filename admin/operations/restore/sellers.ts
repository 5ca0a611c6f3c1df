/** The sellers in a restore: each with its entry in the list of all sellers and what tells which users were removed, before its users and keys. */
import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { putAll } from '#admin/stores/batches.ts';
import {
  type Audit,
  type Events,
  readAudit,
  readEvents,
  readItems,
  readLeastCounts,
} from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { auditPut } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { removalSummaryKey, sellerKey, tombstoneKey } from '#shared/table/keys.ts';
import { queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { countsFrom } from '#shared/users/user-change.ts';
import { decideSeller, sellerEntry } from './decisions.ts';
import { putsOf } from './groups.ts';
import type { RestoreOptions, Run } from './run.ts';

/** The audit keeps the hashes of erased phones as long as point-in-time recovery reaches back. */
const MAX_AGE_MS = 35 * 86_400_000;

/** A seller of the restored table as it is stored, with its audit. */
interface SourceSeller {
  readonly old: StoredItem;
  readonly audit: Audit;
}

/** Reads the sellers of the restored table. Throws `bad_input` for the wrong table, or for one that is too old to know who was erased since. */
export const readSellers = async (
  { table, clock, sellers: live }: Administration,
  { source, sellerId, erased }: RestoreOptions,
): Promise<SourceSeller[]> => {
  const refuse = (reason: string) => refusal('bad_input', `${source.name} ${reason}`);
  const sellers: SourceSeller[] = [];
  for (const seller of await sellerStore(source).list()) {
    if (sellerId !== undefined && seller.seller_id !== sellerId) continue;
    const audit = await readAudit(source, table, seller.seller_id);
    sellers.push({ old: { ...sellerKey(seller.seller_id), ...seller }, audit });
  }
  if (sellers.length === 0) {
    throw refuse(`has no ${sellerId === undefined ? 'sellers' : `seller ${sellerId}`}.`);
  }
  const isKnown = sellers.some(({ audit }) => audit.all.length > 0);
  if (!isKnown && (await live.list()).length > 0) {
    throw refuse(`and ${table.name} have no seller in common.`);
  }
  const newest = Math.max(...sellers.map(({ audit }) => audit.restoredAtMs));
  if (erased === undefined && clock() - newest >= MAX_AGE_MS) {
    throw refuse(
      'has no audit record of the last 35 days, so erasures since may be forgotten. Name the erased phones with --erased.',
    );
  }
  return sellers;
};

/** Reads what the live table lacks of a partition of the restored one. */
async function* missingIn({ source, table }: { source: Table; table: Table }, pk: string) {
  for await (const items of queryPages(source, { pk })) {
    const at = await readItems(table, items);
    yield items.filter((item) => at(item) === undefined);
  }
}

const hasAll = async (run: Run, pk: string): Promise<boolean> => {
  for await (const missing of missingIn(run, pk)) if (missing.length > 0) return false;
  return true;
};

/** What the users and keys of a seller need to know of it. */
export interface RestoredSeller {
  readonly sellerId: string;
  /** No user comes back before they are set by hand: its event could not be numbered. */
  readonly areCountsLow: boolean;
  readonly audit: Audit;
  /** The events since the restore point. They are read when a missing user first needs them. */
  readonly eventsSince: () => Promise<Events>;
}

/**
 * Compares a seller of the restored table with its entry in the list of all sellers, and puts what is missing of them. What tells which users
 * were removed comes before a missing seller: without it, no page of its users is right, and nothing else writes it meanwhile.
 */
export const restoreSeller = async (run: Run, { old, audit }: SourceSeller): Promise<RestoredSeller> => {
  const { admin, table, isCopy, report } = run;
  const sellerId = String(old.seller_id);
  const removals = removalSummaryKey(sellerId).pk;
  // Read before the seller, whose counts a change raises together with the items.
  const least = await readLeastCounts(table, sellerId);
  const hasRemovals = await hasAll(run, removals);
  const at = await readItems(table, [old, sellerEntry(old)]);
  const live = at(old);
  const decision = decideSeller({ audit, least, hasRemovals }, old, at);
  let { state } = decision;
  if (isCopy && decision.puts !== undefined) {
    if (live === undefined) {
      for (const pk of [tombstoneKey(sellerId, 0).pk, removals])
        for await (const missing of missingIn(run, pk)) await putAll(table, missing);
    }
    const record = auditPut(table, admin.record({ action: 'seller.restored', seller_id: sellerId }));
    const items = [...putsOf(run, decision), ...(live === undefined ? [record] : [])];
    if (await run.write(items)) state = 'copied';
  }
  // Whichever run brought it back.
  const isBack = live === undefined || audit.added.some(({ action }) => action === 'seller.restored');
  for (const each of [state, isBack ? ('removals_unknown' as const) : undefined])
    if (each !== undefined) report.add({ kind: 'seller', state: each, sellerId, id: sellerId });
  const after = countsFrom(old).events;
  const until = isBack ? after : countsFrom(live).events;
  let events: Promise<Events> | undefined;
  return {
    sellerId,
    areCountsLow: state === 'counts_low',
    audit,
    eventsSince: () => {
      events ??= readEvents(table, sellerId, { after, until });
      return events;
    },
  };
};
