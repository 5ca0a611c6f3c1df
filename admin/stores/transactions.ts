import { auditPut, type NewAuditRecord } from '#shared/audit.ts';
import { deadlineIn } from '#shared/deadline.ts';
import type { Table } from '#shared/table/client.ts';
import { retryConflicts } from '#shared/table/retry-conflicts.ts';
import { type TransactItem, transactWrite } from '#shared/table/writes.ts';

/** How long a transaction that conflicts with other writes is sent again. */
const CONFLICTS_TIMEOUT_MS = 10_000;

/**
 * Writes all items or none, and the audit record of the change with them. Returns whether it did so: false if a condition failed. Throws
 * `service_unavailable` after 10 s of conflicts with other writes, and every other error.
 */
export const transact = async (
  table: Table,
  changes: readonly TransactItem[],
  record?: NewAuditRecord,
): Promise<boolean> => {
  const items = record === undefined ? changes : [...changes, auditPut(table, record)];
  const actions = items.map((item) => ({ otherwise: 'changed' as const, ...item }));
  const result = await retryConflicts(deadlineIn(CONFLICTS_TIMEOUT_MS), () => transactWrite(table, actions));
  return result.written;
};

/** The condition that the item does not exist. */
export const ifAbsent = { ConditionExpression: 'attribute_not_exists(pk)' };
