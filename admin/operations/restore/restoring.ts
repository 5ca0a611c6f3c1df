import { isDeepStrictEqual } from 'node:util';
import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { putAll } from '#admin/stores/batches.ts';
import { readAudit, readItems } from '#admin/stores/restored-items.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** What a person has to look at, in the order of the report. */
export const LISTED = {
  key_older: 'The key is older than its audit. Revoke it and issue another.',
  key_pending: 'The key waits for `keys confirm`: it may have changed since.',
  seller_differs: 'Check the name, status and templates of the seller: the audit does not explain them.',
  lost: 'The user was linked since and is missing. Copy from a later time.',
  correction_lost: 'A correction since is lost: the user is as it was before.',
  ordinal_taken: 'Another user has its place. The user was not restored.',
  person_taken: 'The person is linked again, or its buyer has ended the link. The user was not restored.',
  external_id_taken: 'Another user has its external id.',
  changed_since: 'The user was corrected since and stays as it is.',
} as const;

export type ListedReason = keyof typeof LISTED;

/** What was restored, by kind, and the ids of what was not, each with its seller. */
export interface Report {
  readonly counts: Record<string, number>;
  readonly listed: Map<ListedReason, Map<string, string>>;
}

export interface RestoreOptions {
  /** The table that DynamoDB restored. */
  readonly source: Table;
  /** Whether it only reports what it would do. */
  readonly isDry: boolean;
  /** Only this seller, and no buyers. */
  readonly sellerId?: string | undefined;
  /** The hashes of the phones that are to be erased again. */
  readonly erased?: readonly KeyedHash[] | undefined;
  /** Ends the restore between two writes. */
  readonly signal?: AbortSignal;
  /** Receives how many of all users are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads whose data was removed since the restore point, by the audit. */
export const readErasures = async (admin: Administration, { source, erased = [] }: RestoreOptions) => {
  const { added } = await readAudit(source, admin.table, DEPLOYMENT_SUBJECT);
  const phones = new Set([
    ...erased.flatMap((phone) => phone.keys((hash) => hash)),
    ...added.flatMap(({ phone_hashes = [] }) => phone_hashes),
  ]);
  const actions = new Map(added.map(({ action, details }) => [details?.buyer_id, action]));
  return {
    /** Raised by each erasure and removal. */
    count: added.filter(({ action }) => /^buyer\.(?:erase_started|removed)$/.test(action)).length,
    hasPhone: (hash: unknown): boolean => phones.has(String(hash)),
    hasBuyer: (buyerId: unknown): boolean => actions.get(String(buyerId)) === 'buyer.removed',
  };
};

/** Returns what one run of a restore over everything has in common. */
export const restoring = async (admin: Administration, options: RestoreOptions, report: Report) => {
  const { isDry, signal } = options;
  const { counts, listed } = report;
  const check = (): void => {
    if (signal?.aborted !== true) return;
    throw refusal('interrupted', 'Stopped between two writes. Run the command again: it goes on from there.');
  };
  const count = (name: string, number = 1): void => {
    if (number > 0) counts[name] = (counts[name] ?? 0) + number;
  };
  /** Makes a change, unless this is a dry run, and counts it. `make` and this return false if something else was first. */
  const change = async (name: string, number: number, make: () => Promise<unknown>): Promise<boolean> => {
    check();
    if (number > 0 && !isDry && (await make()) === false) return false;
    count(name, number);
    return true;
  };
  return {
    ...options,
    admin,
    table: admin.table,
    erasures: await readErasures(admin, options),
    /** Throws `interrupted` if the restore is to end. */
    check,
    count,
    change,
    list(reason: ListedReason, id: unknown, sellerId: string): void {
      listed.set(reason, (listed.get(reason) ?? new Map()).set(String(id), sellerId));
    },
    /** Puts items that nobody else writes, where they are missing or, unless `isOld`, differ. */
    async complete(name: string, items: readonly StoredItem[], isOld = false): Promise<void> {
      const liveAt = await readItems(admin.table, items);
      const wrong = items.filter((item) => {
        const live = liveAt(item);
        return live === undefined || (!isOld && !isDeepStrictEqual(live, item));
      });
      await change(name, wrong.length, () => putAll(admin.table, wrong));
    },
  };
};

export type Restoring = Awaited<ReturnType<typeof restoring>>;
