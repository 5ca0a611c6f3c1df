/** The item of the SMS to a phone over all sellers, and the expression that writes it. docs/table.md lists its attributes. */
import type { StoredItem } from '#shared/table/writes.ts';
import { type Expression, type NewCode, TTL_NAME, unchangedSince } from './items.ts';
import { isRecent, SENDS_KEPT_SECONDS } from './send-limits.ts';

/** One SMS to a phone. The id distinguishes two sends of the same second. */
export interface PhoneSend {
  readonly at: number;
  readonly id: string;
}

/** The SMS to a phone over all sellers. */
export interface PhoneSends {
  readonly sends: readonly PhoneSend[];
  readonly version: number;
}

export const phoneSendsFrom = (item: StoredItem | undefined): PhoneSends => ({
  sends: (item?.sends ?? []) as PhoneSend[],
  version: Number(item?.version ?? 0),
});

/** A MAC begins with a salt of its own: it identifies the send. */
const sendId = ({ mac }: NewCode): string => mac.split('.', 1)[0] as string;

export const hasSend = ({ sends }: PhoneSends, code: NewCode): boolean =>
  sends.some(({ id }) => id === sendId(code));

/** Returns the sends over all sellers after one more send; those that no longer count are left out. */
export const withSend = ({ sends, version }: PhoneSends, code: NewCode): PhoneSends => ({
  sends: [...sends.filter(({ at }) => isRecent(at, code.now)), { at: code.now, id: sendId(code) }],
  version: version + 1,
});

export const withoutSend = ({ sends, version }: PhoneSends, code: NewCode): PhoneSends => ({
  sends: sends.filter(({ id }) => id !== sendId(code)),
  version: version + 1,
});

/** Replaces the sends by `next`, whose version is one higher, if the item is unchanged. */
export const phoneSendsExpression = ({ sends, version }: PhoneSends, now: number): Expression => {
  const condition = unchangedSince(version - 1);
  return {
    UpdateExpression: 'SET version = :next, sends = :sends, #ttl = :ttl',
    ConditionExpression: condition.ConditionExpression,
    ExpressionAttributeNames: TTL_NAME,
    ExpressionAttributeValues: {
      ':next': version,
      ':sends': sends,
      ':ttl': now + SENDS_KEPT_SECONDS,
      ...condition.seen,
    },
  };
};
