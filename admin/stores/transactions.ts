import { setTimeout as pause } from 'node:timers/promises';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import {
  type CancellationReason,
  isConditionFailure,
  type TransactItem,
  transactWrite,
  type WriteResult,
} from '#shared/table/writes.ts';

const MAX_ATTEMPTS = 12;
const BETWEEN_ATTEMPTS: Backoff = { baseMs: 10, capMs: 500 };

/**
 * Writes all items or none. A transaction that conflicts with another write is sent again with full jitter; the SDK does not do so.
 * Not written: at least one condition failed. Throws if 12 attempts conflict, and every other error.
 */
export const transact = async (
  table: Pick<Table, 'client'>,
  items: readonly TransactItem[],
): Promise<WriteResult<void, readonly CancellationReason[]>> => {
  for (let attempt = 1; ; attempt += 1) {
    const result = await transactWrite(table, items);
    if (result.written || result.reason.some(isConditionFailure)) return result;
    if (attempt === MAX_ATTEMPTS) throw new Error('the transaction conflicted with other writes 12 times');
    await pause(fullJitterMs(BETWEEN_ATTEMPTS, attempt));
  }
};
