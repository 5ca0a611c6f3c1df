import { setTimeout as pause } from 'node:timers/promises';
import { auditPut, type NewAuditRecord } from '#shared/audit.ts';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { isConditionFailure, type TransactItem, transactWrite } from '#shared/table/writes.ts';

const MAX_ATTEMPTS = 12;
const BETWEEN_ATTEMPTS: Backoff = { baseMs: 10, capMs: 500 };

/**
 * Writes all items or none, and the audit record of the change with them. Returns whether it did so: false if a condition failed. A
 * transaction that conflicts with another write is sent again with full jitter; the SDK does not do so. Throws if 12 attempts
 * conflict, and every other error.
 */
export const transact = async (
  table: Table,
  changes: readonly TransactItem[],
  record?: NewAuditRecord,
): Promise<boolean> => {
  const items = record === undefined ? changes : [...changes, auditPut(table, record)];
  for (let attempt = 1; ; attempt += 1) {
    const result = await transactWrite(table, items);
    if (result.written) return true;
    if (result.reason.some(isConditionFailure)) return false;
    if (attempt === MAX_ATTEMPTS) throw new Error('the transaction conflicted with other writes 12 times');
    await pause(fullJitterMs(BETWEEN_ATTEMPTS, attempt));
  }
};

/** The condition that the item does not exist. */
export const ifAbsent = { ConditionExpression: 'attribute_not_exists(pk)' };
