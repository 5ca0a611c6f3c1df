import type { Administration } from '#admin/administration.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { auditPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { ListedReason } from './rules.ts';

/** A restore: where from, and what it reports. */
export interface Restoring {
  readonly admin: Administration;
  /** The table that DynamoDB restored. */
  readonly source: Table;
  /** Whether it only reports what it would do. */
  readonly isDry: boolean;
  readonly report: Report;
  readonly erasures: Erasures;
  /** Ends the restore between two writes. */
  readonly signal?: AbortSignal | undefined;
}

/** Something that a person has to look at. */
export interface Listed {
  readonly id: string;
  readonly seller_id: string;
}

/** More than a person reads are only counted. */
const MAX_LISTED = 1000;

/** Counts what is restored, and lists what is not. */
export const newReport = () => {
  const counts: Record<string, number> = {};
  const listed = new Map<ListedReason, { count: number; readonly items: Listed[] }>();
  return {
    counts,
    listed,
    count(name: string, number = 1): void {
      if (number > 0) counts[name] = (counts[name] ?? 0) + number;
    },
    list(reason: ListedReason, id: string, seller_id: string): void {
      const entry = listed.get(reason) ?? { count: 0, items: [] };
      entry.count += 1;
      if (entry.items.length < MAX_LISTED) entry.items.push({ id, seller_id });
      listed.set(reason, entry);
    },
  };
};

export type Report = ReturnType<typeof newReport>;

/** The clocks of two admins may differ by this much. */
const CLOCKS_DIFFER_MS = 15 * 60_000;

/** Reads whose data was removed since the restore point, by the audit. `hashes`: of the phones that the operator names. */
export const readErasures = async (
  { table, clock }: Administration,
  source: Table,
  hashes: readonly string[],
) => {
  const pk = auditPartition(DEPLOYMENT_SUBJECT);
  const past = new Set((await queryAll(source, { pk })).map(({ sk }) => sk));
  const phones = new Set<string>(hashes);
  const buyers = new Map<string, boolean>();
  const readFrom = async (time: string): Promise<ReadonlySet<string>> => {
    const added = new Set<string>();
    const records = await queryAll(table, { pk, between: [time, '~'] });
    for (const { sk, action, details, phone_hashes } of records) {
      if (past.has(sk)) continue;
      for (const hash of (phone_hashes ?? []) as readonly string[]) {
        if (!phones.has(hash)) added.add(hash);
        phones.add(hash);
      }
      const { buyer_id } = (details ?? {}) as { readonly buyer_id?: string };
      if (buyer_id !== undefined) buyers.set(buyer_id, action === 'buyer.removed');
    }
    return added;
  };
  await readFrom('0');
  return {
    hasPhone: (hash: unknown): boolean => phones.has(String(hash)),
    hasBuyer: (buyerId: unknown): boolean => buyers.get(String(buyerId)) === true,
    /** Reads what was written meanwhile, and returns the phones in it: the caller removes again what it restored of them. */
    refresh: (): Promise<ReadonlySet<string>> => readFrom(new Date(clock() - CLOCKS_DIFFER_MS).toISOString()),
  };
};

export type Erasures = Awaited<ReturnType<typeof readErasures>>;
