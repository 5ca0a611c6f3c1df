import * as v from 'valibot';
import type { Limit } from '#shared/rate-limits/plans.ts';
import { limitKey, stateIn } from '#shared/rate-limits/rate-limiter.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { apiKeyKey, sellerKey } from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import { apiKeySchema, keyChangeItems, secretEnd } from './api-key-item.ts';
import type { Caller } from './caller.ts';
import { type NewSecret, rotated, validSecrets } from './secret.ts';

export interface OwnRotation {
  readonly secret: NewSecret;
  readonly graceSeconds: number;
  readonly nowMs: number;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
}

/** `too_many_secrets`: the key has another valid secret. `invalid_api_key`: the key, its seller or the secret of the request is not valid. */
export type RotationRefusal = 'too_many_secrets' | 'invalid_api_key';

/** Returns a key, the name of its seller and the state of a limit; undefined if there is no such key. */
export const ownKeyReader =
  (table: Table) =>
  async ({ sellerId, keyId }: Pick<Caller, 'sellerId' | 'keyId'>, limit: Limit, nowMs: number) => {
    const keys = [apiKeyKey(sellerId, keyId), sellerKey(sellerId), limitKey(limit, nowMs)] as const;
    const items = await batchGet(table, keys);
    const [key, seller, counts] = keys.map((wanted) => itemOf(items, wanted));
    if (key === undefined) return undefined;
    return {
      key: v.parse(apiKeySchema, key),
      sellerName: String(seller?.name),
      limitState: stateIn(counts, limit, nowMs),
    };
  };

/**
 * Gives a key a new secret and returns when the one of the request ends (epoch seconds). It never makes a third valid secret. The write is
 * conditional on the version that was read, so a change that came first, of an admin too, is always part of the decision.
 */
export const ownKeyRotator =
  (table: Table) =>
  (caller: Caller, rotation: OwnRotation): Promise<WriteResult<number, RotationRefusal>> =>
    retryUntil(rotation.deadlineMs, async () => {
      const { secret, graceSeconds } = rotation;
      const nowSeconds = Math.floor(rotation.nowMs / 1000);
      const item = await getItem(table, apiKeyKey(caller.sellerId, caller.keyId));
      const before = item && v.parse(apiKeySchema, item);
      if (before?.status !== 'active') return notWritten('invalid_api_key');
      const valid = validSecrets(before, nowSeconds);
      const own = valid.find(({ number }) => number === caller.secretNumber);
      if (own === undefined) return notWritten('invalid_api_key');
      if (valid.length > 1) return notWritten('too_many_secrets');
      const olderEnd = Math.min(
        nowSeconds + graceSeconds,
        secretEnd(before, own) ?? Number.POSITIVE_INFINITY,
      );
      const after = rotated(before, secret.summary, { nowSeconds, olderEnd });
      const record = {
        at: new Date(rotation.nowMs).toISOString(),
        actor: `key:${before.key_id}`,
        action: 'key.rotated',
        seller_id: before.seller_id,
        key_id: before.key_id,
        details: { grace_seconds: graceSeconds, last_four: secret.summary.last_four },
      };
      const items = keyChangeItems(table.name, { before, after, sellerStatus: 'active', record });
      const result = await transactWrite(table, items);
      if (result.written) return written(olderEnd);
      // The first item checks the seller. Any other failure is a change of the key, or a conflict: the next attempt reads it again.
      const [isSuspended] = result.reason.map(isConditionFailure);
      return isSuspended ? notWritten('invalid_api_key') : undefined;
    });
