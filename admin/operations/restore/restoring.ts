/** What the parts of a restore have in common: what was asked for, what was erased since, the report, and the one way to write. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { THROTTLED } from '#admin/stores/batches.ts';
import { readAudit } from '#admin/stores/restored-items.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import { DEPLOYMENT_SUBJECT, type NewAuditRecord } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { pauseAfterConflict } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem, TransactItem } from '#shared/table/writes.ts';

/** What the live table has of a thing that the restored table has. The first four are what the copy is for. */
export const STATES = {
  missing: 'Is missing.',
  copied: 'Was missing and is back.',
  incomplete: 'Exists, but an item that finds it is missing.',
  completed: 'The missing item that finds it is back.',
  removed: 'Was removed or revoked since. It stays away.',
  erased: 'The buyer was erased since. It stays away.',
  refused: 'The buyer has ended the link since. The user was not copied.',
  may_be_removed: 'May have been removed since: an event is missing. The user was not copied.',
  place_taken: 'Another user has its place. The user was not copied.',
  person_taken: 'The person is linked again. The user was not copied.',
  external_id_taken: 'Another user has its external id. The user was copied without it.',
  correction_lost: 'A correction since is lost: the user is as it was before.',
  linked_again: 'The person is linked again. The refusal was not copied.',
  changed: 'Was changed since and stays as it is.',
  differs: 'Differs, and no change since explains it. Repair it by hand.',
  pointers_differ: 'An item that finds it does not belong to it. Repair it by hand.',
  erased_but_present: 'The erasure of its buyer has not found it. Run `buyers erase` again.',
  key_pending: 'The key waits for `keys confirm`: it may have been revoked since.',
  key_older: 'The key is older than its audit. Revoke it and issue another.',
  key_revoked: 'The key is active, but was revoked. Revoke it again.',
  counts_low: 'The counts of the seller are lower than its items.',
  counts_raised: 'The counts of the seller were lower than its items and are raised.',
  seller_unknown: 'The restored table has users of this seller, but not the seller.',
  removals_unknown: 'The seller was missing: users that were removed since may come back.',
} as const;

export type State = keyof typeof STATES;

/** One thing, by its id. Refusals have none. */
export interface Finding {
  readonly kind: 'seller' | 'user' | 'buyer' | 'refusal' | 'key';
  readonly state: State;
  readonly sellerId?: string | undefined;
  readonly id?: unknown;
}

/** The ids of a state that the report keeps. The list has all. */
const IDS_KEPT = 20;

/** Counts findings by seller, and writes each to `list`, a line of CSV each. It keeps a few ids only, however many there are. */
export const restoreReport = (list?: { write(line: string): unknown }) => {
  const counts = new Map<string, { readonly about: Finding; count: number }>();
  const first = new Map<State, Finding[]>();
  list?.write('seller_id,kind,id,state\n');
  return {
    add(finding: Finding): void {
      const { kind, state, sellerId = '', id = '' } = finding;
      const line = counts.get(`${sellerId} ${kind} ${state}`) ?? { about: finding, count: 0 };
      line.count += 1;
      counts.set(`${sellerId} ${kind} ${state}`, line);
      const kept = first.get(state) ?? [];
      if (kept.length < IDS_KEPT) first.set(state, [...kept, finding]);
      list?.write(`${sellerId},${kind},${id},${state}\n`);
    },
    /** How often each seller has what. Things of all sellers have none. */
    counts: () =>
      [...counts.values()].map(({ about: { sellerId = null, kind, state }, count }) => {
        return { seller_id: sellerId, kind, state, count };
      }),
    /** The first ids of a state. */
    first: (state: State) =>
      (first.get(state) ?? []).map(({ id = null, sellerId = null }) => ({ id, seller_id: sellerId })),
  };
};

export type RestoreReport = ReturnType<typeof restoreReport>;

export interface RestoreOptions {
  /** The table that DynamoDB restored. */
  readonly source: Table;
  /** Whether it puts what is missing. Otherwise it writes nothing. */
  readonly isCopy: boolean;
  readonly report: RestoreReport;
  /** Only this seller, and no buyers. */
  readonly sellerId?: string | undefined;
  /** The hashes of phones that were erased since, besides those that the audit names. */
  readonly erased?: readonly KeyedHash[] | undefined;
  /** Ends the restore between two writes. */
  readonly signal?: AbortSignal;
  /** Receives how many of all users are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Reads whose data was removed since the restore point, by the audit. */
export const readErasures = async (admin: Administration, { source, erased = [] }: RestoreOptions) => {
  const { added } = await readAudit(source, admin.table, DEPLOYMENT_SUBJECT);
  const phonesOf = (records: readonly NewAuditRecord[]) =>
    records.flatMap(({ phone_hashes = [] }) => phone_hashes);
  const phones = new Set([...erased.flatMap((phone) => phone.keys((hash) => hash)), ...phonesOf(added)]);
  const isStart = ({ action, details }: NewAuditRecord) =>
    action === 'restore.started' && details?.from === source.name;
  const start = added.findIndex(isStart);
  const actions = new Map(added.map(({ action, details }) => [details?.buyer_id, action]));
  return {
    phones: phones as ReadonlySet<unknown>,
    /** Those that were erased after the first copy from this table began, which may have been interrupted. */
    beside: new Set(start < 0 ? [] : phonesOf(added.slice(start))) as ReadonlySet<unknown>,
    hasBuyer: (buyerId: unknown): boolean => actions.get(String(buyerId)) === 'buyer.removed',
  };
};

/** How long a transaction is sent again while the table throttles it. The SDK does not do so with a throttled transaction. */
const THROTTLED_TIMEOUT_MS = 120_000;

const THROTTLING: readonly unknown[] = ['ThrottlingError', 'ProvisionedThroughputExceeded'];

const isThrottled = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.some(({ Code }) => THROTTLING.includes(Code)) === true;

/** Returns what one run of a restore over everything has in common. */
export const restoring = async (admin: Administration, options: RestoreOptions) => {
  const { table } = admin;
  let failure: unknown;
  /** Throws if the restore is to end. */
  const check = (): void => {
    if (failure !== undefined) throw failure;
    if (options.signal?.aborted !== true) return;
    throw refusal('interrupted', 'Stopped between two writes. Run the command again: it goes on from there.');
  };
  /** Writes all items or none. Returns false if a condition failed. A compare never gets here. */
  const write = async (items: readonly TransactItem[], record?: NewAuditRecord): Promise<boolean> => {
    const deadlineMs = performance.now() + THROTTLED_TIMEOUT_MS;
    for (let throttled = 0; ; throttled += 1) {
      check();
      try {
        return await transact(table, items, record);
      } catch (error) {
        if (!isThrottled(error)) throw error;
        await pauseAfterConflict(throttled, deadlineMs, THROTTLED);
      }
    }
  };
  return {
    ...options,
    admin,
    table,
    erasures: await readErasures(admin, options),
    check,
    write,
    /** Ends the other parts of the restore too: their next check throws the same error. */
    fail(error: unknown): void {
      failure ??= error;
    },
    /** Puts an item that must not exist. */
    put: (Item: StoredItem): TransactItem => ({ Put: { TableName: table.name, Item, ...ifAbsent } }),
  };
};

export type Restoring = Awaited<ReturnType<typeof restoring>>;
