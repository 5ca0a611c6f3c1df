import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';

import { codeKey } from '#shared/table/keys.ts';
import { conditionalWrite } from '#shared/table/writes.ts';
import {
  type CodeRecord,
  lockedUntil,
  MAX_CONSECUTIVE_FAILURES,
  MAX_TRIES_PER_CODE,
  type OutstandingCode,
  type TryRefusal,
  whyNotTried,
} from './rules.ts';

/** Failures and sends are remembered for a day after the last of them. `ttl` only tidies up: every rule looks at the clock. */
const MEMORY_SECONDS = 24 * 3600;

/** What is stored, with the version that a write must still find. */
export interface VersionedCodeRecord extends CodeRecord {
  readonly version: number;
}

/** What a counted try is compared with. */
export interface CountedTry {
  readonly mac: string;
}

const fromItem = (item: Record<string, unknown> | undefined): VersionedCodeRecord | undefined =>
  item && {
    version: Number(item.version ?? 0),
    sends: (item.sends ?? []) as number[],
    failures: Number(item.failures ?? 0),
    lastFailureAt: Number(item.last_failure_at ?? 0),
    ...(item.mac === undefined
      ? {}
      : {
          code: {
            mac: String(item.mac),
            audience: String(item.audience),
            expiresAt: Number(item.code_expires_at),
            tries: Number(item.tries),
          },
        }),
  };

export const codeStore = ({ client, name: TableName }: Table) => {
  const read = async (phoneHash: string): Promise<VersionedCodeRecord | undefined> => {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: codeKey(phoneHash, 'CODE'), ConsistentRead: true }),
    );
    return fromItem(Item);
  };

  /**
   * Replaces the code and the list of sends, if nobody has since `seen` was read. Failures are left as they are. Gives the code
   * that was replaced, as it stood at that very moment: a try or a use of it since `seen` was read shows. Only that one may be put
   * back; the one that was read may be used up by now. Undefined: somebody has replaced it; read again.
   */
  const replaceCode = async (
    phoneHash: string,
    seen: VersionedCodeRecord | undefined,
    next: {
      readonly code: OutstandingCode | undefined;
      readonly sends: readonly number[];
      readonly now: number;
    },
  ): Promise<{ readonly code: OutstandingCode | undefined } | undefined> => {
    const { code } = next;
    const outcome = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName,
          Key: codeKey(phoneHash, 'CODE'),
          UpdateExpression: `SET sends = :sends, version = :next, #ttl = :ttl${
            code === undefined
              ? ' REMOVE mac, audience, code_expires_at, tries'
              : ', mac = :mac, audience = :audience, code_expires_at = :expiresAt, tries = :tries'
          }`,
          ConditionExpression: seen === undefined ? 'attribute_not_exists(version)' : 'version = :seen',
          ExpressionAttributeNames: { '#ttl': 'ttl' },
          ExpressionAttributeValues: {
            ':sends': next.sends,
            ':next': (seen?.version ?? 0) + 1,
            ':ttl': next.now + MEMORY_SECONDS,
            ...(seen === undefined ? {} : { ':seen': seen.version }),
            ...(code === undefined
              ? {}
              : {
                  ':mac': code.mac,
                  ':audience': code.audience,
                  ':expiresAt': code.expiresAt,
                  ':tries': code.tries,
                }),
          },
          ReturnValues: 'ALL_OLD',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (outcome.written) return { code: fromItem(outcome.value.Attributes)?.code };
    // A write that was retried below us, after its answer was lost, finds its own trace, and no longer knows what it replaced.
    return code !== undefined && outcome.reason?.mac === code.mac ? { code: undefined } : undefined;
  };

  /** Counts one try. With `restart`, an elapsed lock ends and the count begins anew. */
  const writeTry = (phoneHash: string, audience: string, now: number, restart: CodeRecord | undefined) =>
    conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName,
          Key: codeKey(phoneHash, 'CODE'),
          UpdateExpression: `SET tries = tries + :one, failures = ${
            restart ? ':one' : 'if_not_exists(failures, :zero) + :one'
          }, last_failure_at = :now, #ttl = :ttl`,
          ConditionExpression: `attribute_exists(mac) AND audience = :audience AND code_expires_at > :now AND tries < :maxTries AND ${
            restart
              ? 'failures = :seenFailures AND last_failure_at = :seenAt'
              : '(attribute_not_exists(failures) OR failures < :maxFailures)'
          }`,
          ExpressionAttributeNames: { '#ttl': 'ttl' },
          ExpressionAttributeValues: {
            ':one': 1,
            ':now': now,
            ':audience': audience,
            ':maxTries': MAX_TRIES_PER_CODE,
            ':ttl': now + MEMORY_SECONDS,
            ...(restart
              ? { ':seenFailures': restart.failures, ':seenAt': restart.lastFailureAt }
              : { ':zero': 0, ':maxFailures': MAX_CONSECUTIVE_FAILURES }),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );

  return {
    read,
    replaceCode,

    /**
     * Counts a try before anything is compared, so that parallel guesses gain nothing: of any number at once, five pass.
     * A counted try is a failure until `redeem` says otherwise.
     */
    async countTry(phoneHash: string, audience: string, now: number): Promise<CountedTry | TryRefusal> {
      let restart: CodeRecord | undefined;
      for (let round = 0; round < 3; round += 1) {
        const outcome = await writeTry(phoneHash, audience, now, restart);
        if (outcome.written) return { mac: String(outcome.value.Attributes?.mac) };
        const was = fromItem(outcome.reason);
        const refusal = whyNotTried(was, audience, now);
        if (refusal !== undefined) return refusal;
        // Refused, yet the rules allow it: the lock has elapsed, or the item changed under our feet.
        restart = was && lockedUntil(was) > 0 ? was : undefined;
      }
      return { reason: 'too_many_attempts', retryAfterSeconds: 1 };
    },

    /** Uses the code up and forgives the failures. `false`: another request was first. */
    async redeem(phoneHash: string, mac: string): Promise<boolean> {
      const outcome = await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName,
            Key: codeKey(phoneHash, 'CODE'),
            UpdateExpression: 'SET failures = :zero REMOVE mac, audience, code_expires_at, tries',
            ConditionExpression: 'mac = :mac',
            ExpressionAttributeValues: { ':zero': 0, ':mac': mac },
          }),
        ),
      );
      return outcome.written;
    },
  };
};

export type CodeStore = ReturnType<typeof codeStore>;
