import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import {
  type AuditRecord,
  auditPut,
  auditRecordSchema,
  DEPLOYMENT_SUBJECT,
  type NewAuditRecord,
} from '#shared/audit.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '#shared/clock.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { auditPartition } from '#shared/table/keys.ts';
import { queryAll, queryPages } from '#shared/table/reads.ts';

/** Sorts after every record: its sort key begins with a year. */
const AFTER_ALL_TIMES = '~';

/** How long the record of an erasure has the hashes of the phone: as long as a backup of the table can be restored. */
export const ERASURES_KEPT_SECONDS = 35 * DAY_SECONDS;

/** A record has the time of the machine that wrote it. No clock with which AWS accepts a request is off by more than minutes. */
const CLOCK_ERROR_MS = HOUR_SECONDS * 1000;

interface AuditQuery {
  readonly isWanted?: (record: AuditRecord) => boolean;
  readonly limit?: number;
  readonly since?: string | undefined;
}

export const auditStore = (table: Table) => ({
  /** Writes a record of something that is not one transaction of the table: an import, a change of API Gateway. */
  async write(record: NewAuditRecord): Promise<void> {
    await table.client.send(new PutCommand(auditPut(table, record).Put));
  },

  /** Returns the newest records of a subject (a seller id, or `deployment`) that are wanted, newest first. `since`: ISO, UTC. */
  async list(
    subject: string,
    { isWanted = () => true, limit = Number.POSITIVE_INFINITY, since }: AuditQuery = {},
  ): Promise<AuditRecord[]> {
    const found: AuditRecord[] = [];
    const between = since === undefined ? {} : { between: [since, AFTER_ALL_TIMES] as const };
    const range = { pk: auditPartition(subject), newestFirst: true, ...between };
    for await (const items of queryPages(table, range)) {
      found.push(...items.map((item) => v.parse(auditRecordSchema, item)).filter(isWanted));
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  },

  /**
   * Reads the erasures that are kept at a time (ISO, UTC), at the first call all of them, then what is newer. Returns whether a phone is
   * among them.
   */
  erasures(at: string): () => Promise<(phone: KeyedHash) => boolean> {
    const hashes = new Set<string>();
    let sinceMs = Date.parse(at) - ERASURES_KEPT_SECONDS * 1000;
    return async () => {
      const between = [new Date(sinceMs).toISOString(), AFTER_ALL_TIMES] as const;
      const records = await queryAll(table, { pk: auditPartition(DEPLOYMENT_SUBJECT), between });
      for (const { phone_hashes = [] } of records)
        for (const hash of phone_hashes as string[]) hashes.add(hash);
      sinceMs = Date.parse(at) - CLOCK_ERROR_MS;
      return (phone) => phone.keys((hash) => hash).some((hash) => hashes.has(hash));
    };
  },
});
