import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { type ItemKey, personCheckKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import {
  conditionalWrite,
  notWritten,
  type StoredItem,
  type TransactItem,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import { type CheckRecord, type EndedCheck, expiresAtSeconds, NO_CHECKS } from './person-checks.ts';

/** Whose checks: one person of one seller. During a rotation of the hash secret the hash under the current key counts. */
export interface CheckedPerson {
  readonly sellerId: string;
  readonly personHash: string;
}

const endedFromItem = (entry: StoredItem): EndedCheck =>
  ({
    leaseId: entry.lease_id,
    dataHash: entry.data_hash,
    atMs: entry.at,
    version: entry.version,
    code: entry.code,
    retryAfterSeconds: entry.retry_after,
  }) as EndedCheck;

const endedToItem = (check: EndedCheck): StoredItem => ({
  lease_id: check.leaseId,
  data_hash: check.dataHash,
  at: check.atMs,
  version: check.version,
  code: check.code,
  retry_after: check.code === 'verification_unavailable' ? check.retryAfterSeconds : undefined,
});

/** The record of an item that was read. */
export const checkRecordFrom = (item: StoredItem | undefined): CheckRecord => {
  if (item === undefined) return NO_CHECKS;
  const lease = { id: String(item.lease_id), untilMs: Number(item.lease_until) };
  return {
    version: Number(item.version),
    ...(item.lease_id === undefined ? {} : { lease }),
    ended: (item.ended as StoredItem[]).map(endedFromItem),
  };
};

const toItem = (key: ItemKey, { version, lease, ended }: CheckRecord, nowMs: number): StoredItem => ({
  ...key,
  version,
  lease_id: lease?.id,
  lease_until: lease?.untilMs,
  ended: ended.map(endedToItem),
  ttl: expiresAtSeconds(nowMs),
});

/** Stores the checks of each person by each seller. Every write replaces the item if its version is still the one that was read. */
export const personCheckStore = (table: Table) => {
  const { client, name: TableName } = table;

  const read = async ({ sellerId, personHash }: CheckedPerson): Promise<CheckRecord> =>
    checkRecordFrom(await getItem(table, personCheckKey(sellerId, personHash)));

  return {
    read,

    /**
     * Replaces the record that was read by `next`, whose version is one higher. The reason of a failure is the record as it is.
     * It may be `next` itself, if the response of a first attempt was lost: the caller recognizes that by its lease id.
     */
    async replace(
      person: CheckedPerson,
      next: CheckRecord,
      nowMs: number,
    ): Promise<WriteResult<CheckRecord, CheckRecord>> {
      const put = client.send(
        new PutCommand({
          TableName,
          Item: toItem(personCheckKey(person.sellerId, person.personHash), next, nowMs),
          ConditionExpression: next.version === 1 ? 'attribute_not_exists(pk)' : 'version = :read',
          ...(next.version === 1 ? {} : { ExpressionAttributeValues: { ':read': next.version - 1 } }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      try {
        const result = await conditionalWrite(put);
        return result.written ? written(next) : notWritten(checkRecordFrom(result.reason));
      } catch (error) {
        // A link transaction of another request holds the item at this moment.
        if (!(error instanceof TransactionConflictException)) throw error;
        return notWritten(await read(person));
      }
    },

    /**
     * The same write as part of a transaction. It has no condition, so that it never cancels a link: the person item decides
     * whether a person is linked twice.
     */
    replacement(person: CheckedPerson, next: CheckRecord, nowMs: number): TransactItem {
      const Item = toItem(personCheckKey(person.sellerId, person.personHash), next, nowMs);
      return { Put: { TableName, Item } };
    },
  };
};

export type PersonCheckStore = ReturnType<typeof personCheckStore>;
