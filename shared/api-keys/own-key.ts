import * as v from 'valibot';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { limitKey, stateIn } from '#shared/rate-limits/rate-limiter.ts';
import { currentDeadline } from '#shared/request-context.ts';
import type { Table } from '#shared/table/client.ts';
import { apiKeyKey, sellerKey } from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf } from '#shared/table/reads.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { notWritten, transactWrite, type WriteResult, written } from '#shared/table/writes.ts';
import { type ApiKey, apiKeySchema, keyChangeActions, secretEnd } from './api-key-item.ts';
import type { Caller } from './caller.ts';
import { withKnownValues } from './known-values.ts';
import { type NewSecret, rotated, validSecrets } from './secret.ts';

interface OwnRotation {
  readonly secret: NewSecret;
  readonly graceSeconds: number;
  readonly nowMs: number;
}

/** `too_many_secrets`: the key has another valid secret. `invalid_api_key`: the key, its seller or the secret of the request is not valid. */
type RotationOutcome = 'too_many_secrets' | 'invalid_api_key';

/** Returns a key, the name of its seller and the state of a limit; undefined if there is no such key. */
export const ownKeyReader =
  (table: Table) =>
  async ({ sellerId, keyId }: Pick<Caller, 'sellerId' | 'keyId'>, limit: Limit, nowMs: number) => {
    const keys = [apiKeyKey(sellerId, keyId), sellerKey(sellerId), limitKey(limit, nowMs)] as const;
    const items = await batchGet(table, keys);
    const [key, seller, counts] = keys.map((wanted) => itemOf(items, wanted));
    if (key === undefined) return undefined;
    return {
      // The authorizer has logged the others.
      key: v.parse(apiKeySchema, withKnownValues(key)),
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
  (caller: Caller, rotation: OwnRotation): Promise<WriteResult<number, RotationOutcome>> => {
    const { secret, graceSeconds, nowMs } = rotation;
    const nowSeconds = Math.floor(nowMs / 1000);
    return retryConflicts(currentDeadline(), async () => {
      const item = await getItem(table, apiKeyKey(caller.sellerId, caller.keyId));
      const before = item && v.parse(apiKeySchema, item);
      if (before?.status !== 'active') return notWritten('invalid_api_key');
      const valid = validSecrets(before, nowSeconds);
      const own = valid.find(({ number }) => number === caller.secretNumber);
      if (own === undefined) return notWritten('invalid_api_key');
      if (valid.length > 1) return notWritten('too_many_secrets');
      const ownEnd = secretEnd(before, own) ?? Number.POSITIVE_INFINITY;
      const olderEnd = Math.min(nowSeconds + graceSeconds, ownEnd);
      const after = rotated(before, secret.summary, { nowSeconds, olderEnd });
      const record = rotationRecord(before, rotation);
      const change = { before, after, sellerStatus: 'active', record } as const;
      const result = await transactWrite(table, keyChangeActions(table.name, change));
      if (result.written) return written(olderEnd);
      const isSellerChanged = !(result instanceof Conflict) && result.reason === 'seller_changed';
      return isSellerChanged ? notWritten('invalid_api_key') : new Conflict();
    });
  };

const rotationRecord = (key: ApiKey, { secret, graceSeconds, nowMs }: OwnRotation): NewAuditRecord => ({
  at: new Date(nowMs).toISOString(),
  actor: `key:${key.key_id}`,
  action: 'key.rotated',
  seller_id: key.seller_id,
  key_id: key.key_id,
  details: { grace_seconds: graceSeconds, last_four: secret.summary.last_four },
});
