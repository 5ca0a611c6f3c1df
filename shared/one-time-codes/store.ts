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
  conditionalWrite,
  isConditionFailure,
  notWritten,
  retryConflicts,
  type StoredItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import {
  clearFailuresExpression,
  type Expression,
  type NewCode,
  recordFrom,
  redeemExpression,
  sendExpression,
  tryExpression,
  type UnsentCode,
  undoExpression,
  type VersionedRecord,
} from './items.ts';
import {
  hasSend,
  type PhoneSends,
  phoneSendsExpression,
  phoneSendsFrom,
  withoutSend,
  withSend,
} from './phone-sends.ts';
import { type OutstandingCode, PUBLIC_AUDIENCE, type TryRefusal, whyNotTried } from './rules.ts';
import type { SendLimit } from './send-limits.ts';

export interface CodeOwner {
  readonly phoneHash: string;
  /** A seller id, or "public" where no key is taken. */
  readonly audience: string;
}

/** The data on which a send is decided. */
export interface SendState {
  readonly record: VersionedRecord;
  /** Undefined for a caller that the sends over all sellers do not limit. */
  readonly phoneSends: PhoneSends | undefined;
  /** The templates that the seller has of its own. */
  readonly templates: SellerTemplates;
}

/** The attempts of an undo that meets other sends to the phone. */
const MAX_ATTEMPTS = 6;

/** How long a redeem is retried while links of the buyer hold the registration, each for some milliseconds. */
const CONFLICTS_TIMEOUT_MS = 1000;

const TRY_ID_LENGTH = 12;

const keyOf = ({ phoneHash, audience }: CodeOwner): ItemKey => codeKey(phoneHash, audience);

export const codeStore = (table: Table) => {
  const { client, name: TableName } = table;

  const params = (Key: ItemKey, expression: Expression) => ({
    TableName,
    Key,
    ...expression,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  });

  /** Sends one conditional UpdateItem, again if it conflicts with a transaction. */
  const update = (key: ItemKey, expression: Expression) => {
    const command = new UpdateCommand({ ...params(key, expression), ReturnValues: 'ALL_NEW' });
    return retryConflicts(() => conditionalWrite(client.send(command)));
  };

  /** Removes a send from the count over all sellers. After many conflicts it gives up; the count is then one too high for a day. */
  const removePhoneSend = async (phoneHash: string, before: PhoneSends, code: NewCode): Promise<void> => {
    let current = withSend(before, code);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && hasSend(current, code); attempt += 1) {
      const expression = phoneSendsExpression(withoutSend(current, code), code.now);
      const result = await update(phoneSendsKey(phoneHash), expression);
      if (result.written) return;
      current = phoneSendsFrom(result.reason);
    }
  };

  return {
    /**
     * Reads the data on which a send is decided, and the seller's templates, in one call. `withPhoneSends`: false for a caller that the
     * sends over all sellers do not limit.
     */
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

    /** Stores a new code and counts its send. Returns false if something has changed since the state was read. */
    async recordSend(owner: CodeOwner, { record, phoneSends }: SendState, code: NewCode): Promise<boolean> {
      const expression = sendExpression(record, code);
      // A write whose response was lost, and which the SDK then sent again, finds its own MAC.
      if (phoneSends === undefined) {
        const result = await update(keyOf(owner), expression);
        return result.written || result.reason?.mac === code.mac;
      }
      const allSends = phoneSendsExpression(withSend(phoneSends, code), code.now);
      const result = await transactWrite(table, [
        { Update: params(keyOf(owner), expression) },
        { Update: params(phoneSendsKey(owner.phoneHash), allSends) },
      ]);
      return result.written || result.reason[0]?.item?.mac === code.mac;
    },

    /** Undoes a send whose message was not sent. Tries, failures and locks of the meantime stay, and the cool-down of a refused send. */
    async undoSend(owner: CodeOwner, { record, phoneSends }: SendState, code: UnsentCode): Promise<void> {
      await Promise.all([
        update(keyOf(owner), undoExpression(record, code)),
        phoneSends && removePhoneSend(owner.phoneHash, phoneSends, code),
      ]);
    },

    /** Notes which provider sent the outstanding code, where that was not the expected one. */
    async setProvider(owner: CodeOwner, mac: string, provider: string): Promise<void> {
      await update(keyOf(owner), {
        UpdateExpression: 'SET provider = :provider',
        ConditionExpression: 'mac = :mac',
        ExpressionAttributeValues: { ':provider': provider, ':mac': mac },
      });
    },

    /**
     * Counts a try before anything is compared, so that parallel guesses gain nothing. A counted try is a failure until `redeem`
     * sets the failures to 0. `limits`: those of the caller's sends.
     */
    async countTry(
      owner: CodeOwner,
      now: number,
      limits?: readonly SendLimit[],
    ): Promise<WriteResult<OutstandingCode, TryRefusal>> {
      const tryId = randomBase62(TRY_ID_LENGTH);
      const result = await update(keyOf(owner), tryExpression(tryId, now));
      const record = recordFrom(result.written ? result.value.Attributes : result.reason);
      if (record.code?.tries.includes(tryId)) return written(record.code);
      return notWritten(whyNotTried(record, now, limits) ?? { reason: 'code_rejected' });
    },

    /** Sets the failures to 0: the right code was tried, but no token could be issued. The code stays, and so do its tries. */
    async clearFailures(owner: CodeOwner, mac: string, now: number): Promise<void> {
      await update(keyOf(owner), clearFailuresExpression(mac, now));
    },

    /**
     * Uses the code up and sets the failures to 0. Returns false if another request was first. Registers the buyer in the same transaction
     * if `buyerId` is given: a code that is rejected registers nobody, also beside an erasure.
     */
    async redeem(owner: CodeOwner, mac: string, now: number, buyerId?: string): Promise<boolean> {
      const redeemId = randomBase62(TRY_ID_LENGTH);
      const expression = redeemExpression(mac, redeemId, now);
      // A write whose response was lost, and which was then sent again, finds its own id.
      const isOwn = (item: StoredItem | undefined): boolean => item?.redeemed_by === redeemId;
      if (buyerId === undefined) {
        const result = await update(keyOf(owner), expression);
        return result.written || isOwn(result.reason);
      }
      const registeredAt = new Date(now * 1000).toISOString();
      const items = [
        { Update: params(keyOf(owner), expression) },
        registrationOf(TableName, owner.phoneHash, buyerId, registeredAt),
      ];
      return retryUntil(performance.now() + CONFLICTS_TIMEOUT_MS, async () => {
        const result = await transactWrite(table, items);
        if (result.written) return true;
        const [ofCode] = result.reason;
        return ofCode && isConditionFailure(ofCode) ? isOwn(ofCode.item) : undefined;
      });
    },
  };
};

export type CodeStore = ReturnType<typeof codeStore>;
