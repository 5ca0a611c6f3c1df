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
import { type ApiKey, apiKeySchema, keyChangeItems, secretEnd } from './api-key-item.ts';
import type { Caller } from './caller.ts';
import { type NewSecret, rotated, validSecrets } from './secret.ts';

export interface OwnRotation {
  readonly secret: NewSecret;
  readonly graceSeconds: number;
  readonly nowMs: number;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
}

/** `in_use`: an older secret is valid, and the newest one was used or made by an admin. `not_valid`: key, seller or secret has ended. */
export type RotationRefusal = 'in_use' | 'not_valid';

/** Epoch seconds. */
const endOfOlder = (key: ApiKey): number =>
  Math.max(...key.secrets.slice(1).map((secret) => secretEnd(key, secret) ?? 0));

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
 * Gives a key a new secret and returns when the older one ends (epoch seconds). While an older secret is valid, the newest one is replaced
 * if it was never used: the response that showed it was lost. One that an admin made is not replaced: it may be what ends a thief's.
 */
export const ownKeyRotator =
  (table: Table) =>
  (caller: Caller, rotation: OwnRotation): Promise<WriteResult<number, RotationRefusal>> =>
    retryUntil(rotation.deadlineMs, async () => {
      const { secret, graceSeconds } = rotation;
      const nowSeconds = Math.floor(rotation.nowMs / 1000);
      const item = await getItem(table, apiKeyKey(caller.sellerId, caller.keyId));
      const before = item && v.parse(apiKeySchema, item);
      if (before?.status !== 'active') return notWritten('not_valid');
      const valid = validSecrets(before, nowSeconds);
      const [newest] = valid;
      if (!valid.some(({ number }) => number === caller.secretNumber)) return notWritten('not_valid');
      if (valid.length > 1 && newest?.created_by === 'admin') return notWritten('in_use');
      const replaced = valid.length > 1 ? newest?.hash : undefined;
      const olderEnd = nowSeconds + graceSeconds;
      const after = rotated(before, secret.summary, { nowSeconds, olderEnd, replaced });
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
      if (result.written) return written(endOfOlder(after));
      const [isSuspended, isChanged, ...others] = result.reason.map(isConditionFailure);
      if (isChanged) return undefined;
      if (isSuspended) return notWritten('not_valid');
      return others.includes(true) ? notWritten('in_use') : undefined;
    });
