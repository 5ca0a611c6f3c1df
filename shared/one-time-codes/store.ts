import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Limit, LimitStates } from '#shared/rate-limits/limit.ts';
import { limitKey, statesIn } from '#shared/rate-limits/rate-limiter.ts';
import { deadlineWithin } from '#shared/request-context.ts';
import { type SellerTemplates, sellerTemplatesSchema } from '#shared/sms/templates.ts';
import type { Table } from '#shared/table/client.ts';
import { codeKey, type ItemKey, sellerKey } from '#shared/table/keys.ts';
import { batchGet, itemOf } from '#shared/table/reads.ts';
import { retryConflicts } from '#shared/table/retry-conflicts.ts';
import {
  type Action,
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
  type NewCode,
  recordFrom,
  redeemExpression,
  sendExpression,
  tryExpression,
  undoExpression,
  type VersionedRecord,
} from './code-item.ts';
import {
  type CodeRecord,
  type OutstandingCode,
  PUBLIC_AUDIENCE,
  type RejectedTry,
  type SendLimit,
  whyNotTried,
} from './rules.ts';

export interface CodeOwner {
  readonly phoneHash: string;
  /** A seller id, or "public" where no key is taken. */
  readonly audience: string;
}

interface SendState {
  readonly record: VersionedRecord;
  readonly templates: SellerTemplates;
  readonly limitStates: LimitStates;
}

/** How long a redeem is retried while links of the buyer hold the registration, each for some milliseconds. */
const CONFLICTS_TIMEOUT_MS = 1000;

const keyOf = ({ phoneHash, audience }: CodeOwner): ItemKey => codeKey(phoneHash, audience);

const params = (TableName: string, Key: ItemKey, expression: Expression) => ({
  TableName,
  Key,
  ...expression,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

const update = ({ client, name }: Table, owner: CodeOwner, expression: Expression) => {
  const command = new UpdateCommand({ ...params(name, keyOf(owner), expression), ReturnValues: 'ALL_NEW' });
  return retriedWrite(() => client.send(command));
};

/** What send-otp does with the codes of a phone. */
export const codeSends = (table: Table) => ({
  /** Reads in one call what decides on a send. `limits`: those whose states are read too. */
  async read(owner: CodeOwner, limits: readonly Limit[], nowMs: number): Promise<SendState> {
    const seller = owner.audience === PUBLIC_AUDIENCE ? undefined : sellerKey(owner.audience);
    const countKeys = limits.map((limit) => limitKey(limit, nowMs));
    const items = await batchGet(table, [
      keyOf(owner),
      ...(seller === undefined ? [] : [seller]),
      ...countKeys,
    ]);
    const sellerItem = seller && itemOf(items, seller);
    return {
      record: recordFrom(itemOf(items, keyOf(owner))),
      templates: v.parse(sellerTemplatesSchema, sellerItem?.message_templates ?? {}),
      limitStates: statesIn(items, limits, nowMs),
    };
  },

  /** Returns false if the record has changed since it was read. */
  async recordSend(owner: CodeOwner, before: VersionedRecord, code: NewCode): Promise<boolean> {
    return (await update(table, owner, sendExpression(before, code))).written;
  },

  /** Takes a send back if its code, `mac`, is still outstanding. `restored`: the record without it. Failures of tries meanwhile stay. */
  async undoSend(owner: CodeOwner, mac: string, restored: CodeRecord): Promise<void> {
    await update(table, owner, undoExpression(restored, mac));
  },

  /** Notes which provider sent the code, if it was not the expected one. */
  async setProvider(owner: CodeOwner, mac: string, provider: string): Promise<void> {
    await update(table, owner, {
      UpdateExpression: 'SET provider = :provider',
      ConditionExpression: 'mac = :mac',
      ExpressionAttributeValues: { ':provider': provider, ':mac': mac },
    });
  },
});

/** What verify-otp does with them. */
export const codeTries = (table: Table) => ({
  /** Counts a try before anything is compared, so that parallel guesses gain nothing. It is a failure until `redeem` clears it. */
  async countTry(
    owner: CodeOwner,
    now: number,
    limits?: readonly SendLimit[],
  ): Promise<WriteResult<OutstandingCode, RejectedTry>> {
    const result = await update(table, owner, tryExpression(now));
    const record = recordFrom(result.written ? result.value.Attributes : result.reason);
    if (result.written && record.code !== undefined) return written(record.code);
    return notWritten(whyNotTried(record, now, limits) ?? { code: 'code_rejected' });
  },

  /** For a right code without a token: the code stays, and so do its tries. */
  async clearFailures(owner: CodeOwner, mac: string, now: number): Promise<void> {
    await update(table, owner, clearFailuresExpression(mac, now));
  },

  /** Uses the code up. Returns false if another request was first. `alsoWrite`: in the same transaction, without conditions. */
  async redeem(
    owner: CodeOwner,
    mac: string,
    { now, alsoWrite = [] }: { readonly now: number; readonly alsoWrite?: readonly TransactItem[] },
  ): Promise<boolean> {
    const redeemed: Action<'code_used'> = {
      Update: params(table.name, keyOf(owner), redeemExpression(mac, now)),
      otherwise: 'code_used',
    };
    const deadline = deadlineWithin(CONFLICTS_TIMEOUT_MS);
    const write = () => transactWrite(table, [redeemed, ...alsoWrite]);
    return (await retryConflicts(deadline, write)).written;
  },
});
