import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type AuditRecord, auditPut, auditRecordSchema, type NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { auditPartition } from '#shared/table/keys.ts';
import { queryPages } from '#shared/table/reads.ts';

export const auditStore = (table: Table) => ({
  /** Writes a record of something that is not one transaction of the table: an import, a change of API Gateway. */
  async write(record: NewAuditRecord): Promise<void> {
    await table.client.send(new PutCommand(auditPut(table, record).Put));
  },

  /** Returns the newest records of a subject (a seller id, or `deployment`) that are wanted, newest first. */
  async list(
    subject: string,
    { isWanted = () => true, limit }: { isWanted?: (record: AuditRecord) => boolean; limit: number },
  ): Promise<AuditRecord[]> {
    const found: AuditRecord[] = [];
    for await (const items of queryPages(table, { pk: auditPartition(subject), newestFirst: true })) {
      found.push(...items.map((item) => v.parse(auditRecordSchema, item)).filter(isWanted));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  },
});
