/** The item of a phone's code with one audience, and every expression that writes it. */
import type { StoredItem } from '#shared/table/writes.ts';
import {
  afterSend,
  type CodeRecord,
  FIRST_LOCK_AT,
  type OutstandingCode,
  SENDS_KEPT_SECONDS,
  TRY_CONDITIONS,
  TRY_VALUES,
} from './rules.ts';

/** The stored record, and the version that a send must still find; 0 if nothing is stored. */
export interface VersionedRecord extends CodeRecord {
  readonly version: number;
}

export interface NewCode extends Pick<OutstandingCode, 'mac' | 'provider'> {
  readonly now: number;
}

const codeOf = (item: StoredItem): OutstandingCode => ({
  mac: String(item.mac),
  expiresAt: Number(item.code_expires_at),
  tries: Number(item.tries),
  provider: String(item.provider),
});

export const recordFrom = (item: StoredItem = {}): VersionedRecord => ({
  version: Number(item.version ?? 0),
  sends: (item.sends ?? []) as number[],
  lastBouncedAt: Number(item.last_bounced_at ?? 0),
  failures: Number(item.failures ?? 0),
  lastFailureAt: Number(item.last_failure_at ?? 0),
  lockAt: Number(item.lock_at ?? FIRST_LOCK_AT),
  ...(item.mac === undefined ? {} : { code: codeOf(item) }),
});

/** The part of an UpdateItem that differs from write to write. A value that is undefined is not sent. */
export interface Expression {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues: Record<string, unknown>;
}

const TTL_NAME = { '#ttl': 'ttl' };

const WITHOUT_CODE = 'mac, code_expires_at, tries, provider';

/** The condition that the item was not written since a version was read, which is `:seen`. */
const unchangedSince = (version: number): string =>
  version === 0 ? 'attribute_not_exists(version)' : 'version = :seen';

/** Replaces the old code by a new one. The item has no ttl while it holds failures. */
export const sendExpression = (seen: VersionedRecord, { now, ...code }: NewCode): Expression => {
  const next = afterSend(seen, code, now);
  const hasFailures = next.failures > 0;
  return {
    UpdateExpression:
      'SET version = :next, sends = :sends, failures = :failures, lock_at = :lockAt, mac = :mac, ' +
      `code_expires_at = :expiresAt, tries = :tries, provider = :provider${hasFailures ? ' REMOVE #ttl' : ', #ttl = :ttl'}`,
    ConditionExpression: unchangedSince(seen.version),
    ExpressionAttributeNames: TTL_NAME,
    ExpressionAttributeValues: {
      ':seen': seen.version || undefined,
      ':next': seen.version + 1,
      ':sends': next.sends,
      ':failures': next.failures,
      ':lockAt': next.lockAt,
      ':mac': next.code.mac,
      ':expiresAt': next.code.expiresAt,
      ':tries': next.code.tries,
      ':provider': next.code.provider,
      ':ttl': hasFailures ? undefined : now + SENDS_KEPT_SECONDS,
    },
  };
};

/**
 * Takes a send back while its code is outstanding. `restored`: the record that stays of the sends, the cool-down and the code, with the lock
 * that it was sent under. Failures and locks of tries meanwhile stay.
 */
export const undoExpression = (
  { sends, lastBouncedAt, lockAt, code }: CodeRecord,
  undoneMac: string,
): Expression => ({
  UpdateExpression:
    'SET version = version + :one, sends = :sends, last_bounced_at = :bouncedAt' +
    (code === undefined
      ? ` REMOVE ${WITHOUT_CODE}`
      : ', lock_at = :lockAt, mac = :mac, code_expires_at = :expiresAt, tries = :tries, provider = :provider'),
  ConditionExpression: 'mac = :undone',
  ExpressionAttributeValues: {
    ':one': 1,
    ':undone': undoneMac,
    ':sends': sends,
    ':bouncedAt': lastBouncedAt,
    ...(code !== undefined && {
      ':lockAt': lockAt,
      ':mac': code.mac,
      ':expiresAt': code.expiresAt,
      ':tries': code.tries,
      ':provider': code.provider,
    }),
  },
});

export const holdsCode = (item: StoredItem | undefined): boolean => item?.mac !== undefined;

/** Ends the outstanding code. The failures stay, and so do the sends. */
export const endExpression: Expression = {
  UpdateExpression: `SET version = version + :one REMOVE ${WITHOUT_CODE}`,
  ConditionExpression: 'attribute_exists(mac)',
  ExpressionAttributeValues: { ':one': 1 },
};

/** Counts one try. */
export const tryExpression = (now: number): Expression => ({
  UpdateExpression:
    'SET version = version + :one, failures = failures + :one, last_failure_at = :now, tries = tries + :one REMOVE #ttl',
  ConditionExpression: TRY_CONDITIONS.map(({ expression }) => expression).join(' AND '),
  ExpressionAttributeNames: TTL_NAME,
  ExpressionAttributeValues: { ...TRY_VALUES, ':one': 1, ':now': now },
});

const CLEARED =
  'SET version = version + :one, failures = :zero, lock_at = :firstLock, #ttl = :ttl REMOVE last_failure_at';

const clearedValues = (now: number) => ({
  ':one': 1,
  ':zero': 0,
  ':firstLock': FIRST_LOCK_AT,
  ':ttl': now + SENDS_KEPT_SECONDS,
});

/** Sets the failures to 0 while the code is the outstanding one. */
export const clearFailuresExpression = (mac: string, now: number): Expression => ({
  UpdateExpression: CLEARED,
  ConditionExpression: 'mac = :mac',
  ExpressionAttributeNames: TTL_NAME,
  ExpressionAttributeValues: { ...clearedValues(now), ':mac': mac },
});

/** Uses the code up, and sets the failures to 0. The sends stay. */
export const redeemExpression = (mac: string, now: number): Expression => ({
  ...clearFailuresExpression(mac, now),
  UpdateExpression: `${CLEARED}, ${WITHOUT_CODE}`,
});

/** Sets the failures to 0 if there are any, and so ends a lock. A code stays, and so do the sends. */
export const unlockExpression = (now: number): Expression => ({
  UpdateExpression: CLEARED,
  ConditionExpression: 'failures > :zero',
  ExpressionAttributeNames: TTL_NAME,
  ExpressionAttributeValues: clearedValues(now),
});
