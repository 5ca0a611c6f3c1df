/** The item of the SMS to a phone over all sellers, and the expressions that write it. docs/table.md lists its attributes. */
import type { StoredItem } from '#shared/table/writes.ts';
import { type Expression, type NewCode, TTL_NAME, unchangedSince } from './items.ts';
import { recentSends, SENDS_KEPT_SECONDS } from './rules.ts';

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

/** Returns the sends of an item; none if there is no item. */
export const phoneSendsFrom = (item: StoredItem | undefined): PhoneSends =>
  item === undefined
    ? { sends: [], version: 0 }
    : { sends: item.sends as PhoneSend[], version: Number(item.version) };

/** A MAC begins with a salt of its own: it identifies the send. */
const sendId = ({ mac }: NewCode): string => mac.split('.', 1)[0] as string;

/** Returns whether the send of this code was counted. */
export const hasSend = ({ sends }: PhoneSends, code: NewCode): boolean =>
  sends.some(({ id }) => id === sendId(code));

/** Returns the sends over all sellers after one more send; those that no longer count are left out. */
export const afterPhoneSend = ({ sends, version }: PhoneSends, code: NewCode): PhoneSends => ({
  version: version + 1,
  sends: [
    ...sends.filter(({ at }) => recentSends([at], code.now).length > 0),
    { at: code.now, id: sendId(code) },
  ],
});

const phoneSendsExpression = (seenVersion: number, next: PhoneSends, now: number): Expression => {
  const condition = unchangedSince(seenVersion);
  return {
    UpdateExpression: 'SET version = :next, sends = :sends, #ttl = :ttl',
    ConditionExpression: condition.ConditionExpression,
    ExpressionAttributeNames: TTL_NAME,
    ExpressionAttributeValues: {
      ':next': next.version,
      ':sends': next.sends,
      ':ttl': now + SENDS_KEPT_SECONDS,
      ...condition.seen,
    },
  };
};

/** Returns the expression that adds a send, if the item is unchanged. */
export const addSendExpression = (seen: PhoneSends, code: NewCode): Expression =>
  phoneSendsExpression(seen.version, afterPhoneSend(seen, code), code.now);

/** Returns the expression that removes a send, if the item is unchanged. */
export const removeSendExpression = (seen: PhoneSends, code: NewCode): Expression => {
  const sends = seen.sends.filter(({ id }) => id !== sendId(code));
  return phoneSendsExpression(seen.version, { sends, version: seen.version + 1 }, code.now);
};
