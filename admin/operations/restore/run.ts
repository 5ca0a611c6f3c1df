/** What the parts of a restore have in common: what was asked for, who was erased since, and the one way to write. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { THROTTLED } from '#admin/stores/batches.ts';
import { readErasures } from '#admin/stores/restored-items.ts';
import { transact } from '#admin/stores/transactions.ts';
import { deadlineIn } from '#shared/deadline.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import type { RestoreReport } from './report.ts';

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

/** How long a transaction is sent again while the table throttles it. The SDK does not do so with a throttled transaction. */
const THROTTLED_TIMEOUT_MS = 120_000;

const THROTTLING: readonly unknown[] = ['ThrottlingError', 'ProvisionedThroughputExceeded'];

const isThrottled = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  error.CancellationReasons?.some(({ Code }) => THROTTLING.includes(Code)) === true;

/** Returns what one run of a restore over everything has in common. */
export const startRun = async (admin: Administration, options: RestoreOptions) => {
  const { table } = admin;
  let failure: unknown;
  /** Throws if the restore is to end. */
  const check = (): void => {
    if (failure !== undefined) throw failure;
    if (options.signal?.aborted !== true) return;
    throw refusal('interrupted', 'Stopped between two writes. Run the command again: it goes on from there.');
  };
  return {
    ...options,
    admin,
    table,
    erasures: await readErasures(options.source, table, options.erased),
    check,
    /** Writes all items or none. Returns false if a condition failed. A compare never gets here. */
    async write(items: readonly TransactItem[]): Promise<boolean> {
      const step = async () => {
        check();
        try {
          return await transact(table, items);
        } catch (error) {
          if (!isThrottled(error)) throw error;
          return new Conflict();
        }
      };
      return retryConflicts(deadlineIn(THROTTLED_TIMEOUT_MS), step, THROTTLED);
    },
    /** Ends the other parts of the restore too: their next check throws the same error. */
    fail(error: unknown): void {
      failure ??= error;
    },
  };
};

export type Run = Awaited<ReturnType<typeof startRun>>;
