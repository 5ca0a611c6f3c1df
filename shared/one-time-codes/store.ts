import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { randomBase62 } from '#shared/base62.ts';
import { registrationOf } from '#shared/buyers/store.ts';
import { type SellerTemplates, sellerTemplatesSchema } from '#shared/sms/templates.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { codeKey, type ItemKey, phoneSendsKey, sellerKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  retriedWrite,
  type TransactItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import {
  clearFailuresExpression,
  type Expression,
  hasSend,
  type NewCode,
  type PhoneSends,
  phoneSendsExpression,
  phoneSendsFrom,
  recordFrom,
  redeemExpression,
  sendExpression,
  tryExpression,
  type UnsentCode,
  undoExpression,
  type VersionedRecord,
  withoutSend,
  withSend,
} from './items.ts';
import {
  type OutstandingCode,
  PUBLIC_AUDIENCE,
  type SendLimit,
  type TryRefusal,
  whyNotTried,
} from './rules.ts';

export interface CodeOwner {
  readonly phoneHash: string;
  /** A seller id, or "public" where no key is taken. */
  readonly audience: string;
}

export interface SendState {
  readonly record: VersionedRecord;
  /** Undefined for a caller that the sends over all sellers do not limit. */
  readonly phoneSends: PhoneSends | undefined;
  readonly templates: SellerTemplates;
}

const MAX_ATTEMPTS = 6;

/** How long a redeem is retried while links of the buyer hold the registration, each for some milliseconds. */
const CONFLICTS_TIMEOUT_MS = 1000;

const TRY_ID_LENGTH = 12;

const keyOf = ({ phoneHash, audience }: CodeOwner): ItemKey => codeKey(phoneHash, audience);

const params = (TableName: string, Key: ItemKey, expression: Expression) => ({
  TableName,
  Key,
  ...expression,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

const update = ({ client, name }: Table, key: ItemKey, expression: Expression) => {
  const command = new UpdateCommand({ ...params(name, key, expression), ReturnValues: 'ALL_NEW' });
  return retriedWrite(() => client.send(command));
};

/** What send-otp does with the codes of a phone. */
export const codeSends = (table: Table) => {
  /** Removes a send from the count over all sellers. After many conflicts it gives up; the count is then one too high for a day. */
  const removePhoneSend = async (phoneHash: string, before: PhoneSends, code: NewCode): Promise<void> => {
    let current = withSend(before, code);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && hasSend(current, code); attempt += 1) {
      const expression = phoneSendsExpression(withoutSend(current, code), code.now);
      const result = await update(table, phoneSendsKey(phoneHash), expression);
      if (result.written) return;
      current = phoneSendsFrom(result.reason);
    }
  };

  return {
    /** Reads the data on which a send is decided. `withPhoneSends`: false for a caller that the sends over all sellers do not limit. */
    async read(owner: CodeOwner, withPhoneSends: boolean): Promise<SendState> {
      const [own, all] = [keyOf(owner), phoneSendsKey(owner.phoneHash)];
      const seller = owner.audience === PUBLIC_AUDIENCE ? undefined : sellerKey(owner.audience);
      const keys = [own, withPhoneSends && all, seller].filter((key) => typeof key === 'object');
      const items = await batchGet(table, keys);
      const sellerItem = seller && itemOf(items, seller);
      return {
        record: recordFrom(itemOf(items, own)),
        phoneSends: withPhoneSends ? phoneSendsFrom(itemOf(items, all)) : undefined,
        templates: v.parse(sellerTemplatesSchema, sellerItem?.message_templates ?? {}),
      };
    },

    /** Returns false if something has changed since the state was read. */
    async recordSend(owner: CodeOwner, { record, phoneSends }: SendState, code: NewCode): Promise<boolean> {
      const own = { Update: params(table.name, keyOf(owner), sendExpression(record, code)) };
      const all = phoneSends && phoneSendsExpression(withSend(phoneSends, code), code.now);
      const ofPhone = all && { Update: params(table.name, phoneSendsKey(owner.phoneHash), all) };
      return (await transactWrite(table, ofPhone ? [own, ofPhone] : [own])).written;
    },

    /** Undoes a send whose message was not sent. Tries, failures and locks of the meantime stay, and the cool-down of a refused send. */
    async undoSend(owner: CodeOwner, { record, phoneSends }: SendState, code: UnsentCode): Promise<void> {
      await Promise.all([
        update(table, keyOf(owner), undoExpression(record, code)),
        phoneSends && removePhoneSend(owner.phoneHash, phoneSends, code),
      ]);
    },

    /** Notes which provider sent the code, if it was not the expected one. */
    async setProvider(owner: CodeOwner, mac: string, provider: string): Promise<void> {
      await update(table, keyOf(owner), {
        UpdateExpression: 'SET provider = :provider',
        ConditionExpression: 'mac = :mac',
        ExpressionAttributeValues: { ':provider': provider, ':mac': mac },
      });
    },
  };
};

/** What verify-otp does with them. */
export const codeTries = (table: Table) => ({
  /** Counts a try before anything is compared, so that parallel guesses gain nothing. It is a failure until `redeem` clears it. */
  async countTry(
    owner: CodeOwner,
    now: number,
    limits?: readonly SendLimit[],
  ): Promise<WriteResult<OutstandingCode, TryRefusal>> {
    const tryId = randomBase62(TRY_ID_LENGTH);
    const result = await update(table, keyOf(owner), tryExpression(tryId, now));
    const record = recordFrom(result.written ? result.value.Attributes : result.reason);
    if (record.code?.tries.includes(tryId)) return written(record.code);
    return notWritten(whyNotTried(record, now, limits) ?? { reason: 'code_rejected' });
  },

  /** For a right code without a token: the code stays, and so do its tries. */
  async clearFailures(owner: CodeOwner, mac: string, now: number): Promise<void> {
    await update(table, keyOf(owner), clearFailuresExpression(mac, now));
  },

  /** Uses the code up, and registers the buyer `buyerId` in the same transaction. Returns false if another request was first. */
  async redeem(owner: CodeOwner, mac: string, now: number, buyerId?: string): Promise<boolean> {
    const registeredAt = new Date(now * 1000).toISOString();
    const items: TransactItem[] = [{ Update: params(table.name, keyOf(owner), redeemExpression(mac, now)) }];
    if (buyerId !== undefined) items.push(registrationOf(table.name, owner.phoneHash, buyerId, registeredAt));
    return retryUntil(performance.now() + CONFLICTS_TIMEOUT_MS, async () => {
      const result = await transactWrite(table, items);
      if (result.written) return true;
      const [ofCode] = result.reason;
      return ofCode && isConditionFailure(ofCode) ? false : undefined;
    });
  },
});
