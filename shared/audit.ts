import * as v from 'valibot';
import { randomBase62 } from '#shared/base62.ts';
import type { Table } from '#shared/table/client.ts';
import { auditKey } from '#shared/table/keys.ts';

/** The subject of records without a seller: imports, buyers, keys that only API Gateway has. */
export const DEPLOYMENT_SUBJECT = 'deployment';

/** `actor`: an AWS identity's ARN, `local:<user>`, or `key:<key id>` of a seller. `details` are for people: no secret and no phone. */
export const auditRecordSchema = v.object({
  at: v.string(),
  actor: v.string(),
  action: v.string(),
  seller_id: v.optional(v.string()),
  key_id: v.optional(v.string()),
  details: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
});

export type AuditRecord = v.InferOutput<typeof auditRecordSchema>;

export type NewAuditRecord = v.InferInput<typeof auditRecordSchema> & {
  /** The keyed hashes of an erased phone, so that no import registers it again. No list of records shows them. */
  readonly phone_hashes?: readonly string[];
  /** Epoch seconds; records without it stay. */
  readonly ttl?: number;
};

const RECORD_ID_LENGTH = 8;

/** Part of the transaction that makes the change, so that neither exists without the other. */
export const auditPut = ({ name }: Pick<Table, 'name'>, record: NewAuditRecord) => {
  const subject = record.seller_id ?? DEPLOYMENT_SUBJECT;
  return {
    Put: {
      TableName: name,
      Item: { ...auditKey(subject, record.at, randomBase62(RECORD_ID_LENGTH)), ...record },
    },
  };
};
