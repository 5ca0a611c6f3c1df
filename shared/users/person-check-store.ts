import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { personCheckKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { conditionalWrite, type TransactItem } from '#shared/table/writes.ts';
import {
  type CheckRecord,
  checkRecordFrom,
  FAILED_CHECKS_WINDOW_SECONDS,
  LEASE_SECONDS,
} from './person-checks.ts';

/** After this time a record has no effect. */
const KEEP_SECONDS = FAILED_CHECKS_WINDOW_SECONDS + LEASE_SECONDS;

/** Whose checks: one person of one seller. During a rotation of the hash secret the hash under the current key counts. */
export interface CheckedPerson {
  readonly sellerId: string;
  readonly personHash: string;
}

const keyOf = ({ sellerId, personHash }: CheckedPerson) => personCheckKey(sellerId, personHash);

/** Stores the checks of each person by each seller. Every write replaces the item if its version is still the one that was read. */
export const personCheckStore = (table: Table) => {
  const { client, name: TableName } = table;

  const read = async (person: CheckedPerson): Promise<CheckRecord> =>
    checkRecordFrom(await getItem(table, keyOf(person)));

  const put = (person: CheckedPerson, next: CheckRecord, nowMs: number) => ({
    TableName,
    Item: { ...keyOf(person), ...next, ttl: Math.ceil(nowMs / 1000) + KEEP_SECONDS },
  });

  return {
    read,

    /**
     * Replaces the record that was read by `next`, whose version is one higher, unless another request has written it since. Returns
     * the record as it is stored then. The caller recognizes its own write by its lease id, also if a first response was lost.
     */
    async replace(person: CheckedPerson, next: CheckRecord, nowMs: number): Promise<CheckRecord> {
      const isFirst = next.version === 1;
      const command = new PutCommand({
        ...put(person, next, nowMs),
        ConditionExpression: isFirst ? 'attribute_not_exists(pk)' : 'version = :read',
        ExpressionAttributeValues: isFirst ? undefined : { ':read': next.version - 1 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      try {
        const result = await conditionalWrite(client.send(command));
        return result.written ? next : checkRecordFrom(result.reason);
      } catch (error) {
        // A link transaction of another request holds the item at this moment.
        if (!(error instanceof TransactionConflictException)) throw error;
        return read(person);
      }
    },

    /**
     * The same write as part of a transaction. It has no condition, so that it never cancels a link: the person item decides
     * whether a person is linked twice.
     */
    replacement: (person: CheckedPerson, next: CheckRecord, nowMs: number): TransactItem => ({
      Put: put(person, next, nowMs),
    }),
  };
};

export type PersonCheckStore = ReturnType<typeof personCheckStore>;
