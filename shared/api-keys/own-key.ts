/** What a seller may read and change of its own key. */
import * as v from 'valibot';
import { auditPut } from '#shared/audit.ts';
import type { Limit, LimitState } from '#shared/rate-limits/limits.ts';
import { limitKey, stateIn } from '#shared/rate-limits/rate-limiter.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { apiKeyKey, secretKey, sellerKey } from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  type TransactItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import { type ApiKey, apiKeySchema, keyUpdate, secretEnd, secretUpdates } from './api-key-item.ts';
import type { Caller } from './caller.ts';
import { type NewSecret, rotated, validSecrets } from './secret.ts';

type KeyOwner = Pick<Caller, 'sellerId' | 'keyId'>;

/** A key as it is now, and the state of a limit of it. */
interface OwnKey {
  readonly key: ApiKey;
  readonly sellerName: string;
  readonly limitState: LimitState;
}

/** A rotation by the seller. */
export interface OwnRotation {
  readonly secret: NewSecret;
  readonly graceSeconds: number;
  readonly nowMs: number;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** Awaited before the first write, beside the read. Its rejection is thrown. */
  readonly mayWrite: Promise<unknown>;
}

/** `in_use`: an older secret is valid and the newest one was used. `not_valid`: the key was revoked or its seller suspended. */
export type RotationRefusal = 'in_use' | 'not_valid';

/** When the last of the older secrets ends, epoch seconds. */
const endOfOlder = (key: ApiKey): number =>
  Math.max(...key.secrets.slice(1).map((secret) => secretEnd(key, secret) ?? 0));

/** The transaction of a rotation. The replaced secret must never have been used. */
const rotationItems = (
  TableName: string,
  {
    key,
    after,
    replaced,
  }: { readonly key: ApiKey; readonly after: ApiKey; readonly replaced?: string | undefined },
  { secret, graceSeconds, nowMs }: OwnRotation,
): TransactItem[] => {
  const { seller_id, key_id } = key;
  const dropped = key.secrets.filter(({ hash }) => !after.secrets.some((kept) => kept.hash === hash));
  return [
    { ConditionCheck: { TableName, Key: sellerKey(seller_id), ...ifEqual('status', 'active') } },
    keyUpdate(TableName, key, after),
    ...secretUpdates(TableName, after, 'active'),
    ...dropped.map(({ hash }) => ({
      Delete: {
        TableName,
        Key: secretKey(hash),
        ...(hash === replaced ? { ConditionExpression: 'attribute_not_exists(last_used_day)' } : {}),
      },
    })),
    auditPut(
      { name: TableName },
      {
        at: new Date(nowMs).toISOString(),
        actor: `key:${key_id}`,
        action: 'key.rotated',
        seller_id,
        key_id,
        details: { grace_seconds: graceSeconds, last_four: secret.summary.last_four },
      },
    ),
  ];
};

/** Returns the store of a seller's own key. */
export const ownKeyStore = (table: Table) => {
  const find = async ({ sellerId, keyId }: KeyOwner): Promise<ApiKey | undefined> => {
    const item = await getItem(table, apiKeyKey(sellerId, keyId));
    return item && v.parse(apiKeySchema, item);
  };

  return {
    /** Reads a key with its seller and the state of one limit, in one call. Undefined if there is no such key. */
    async read({ sellerId, keyId }: KeyOwner, limit: Limit, nowMs: number): Promise<OwnKey | undefined> {
      const keys = [apiKeyKey(sellerId, keyId), sellerKey(sellerId), limitKey(limit, nowMs)] as const;
      const items = await batchGet(table, keys);
      const [key, seller, counts] = keys.map((wanted) => itemOf(items, wanted));
      if (key === undefined) return undefined;
      return {
        key: v.parse(apiKeySchema, key),
        sellerName: String(seller?.name),
        limitState: stateIn(counts, limit, nowMs),
      };
    },

    /**
     * Gives a key a new secret, in one transaction with its audit record, and returns when the older secret ends (epoch seconds). While an
     * older secret is valid, the newest one is replaced if it was never used: nobody has it, since the response that showed it was lost. A
     * write whose response was lost is found by the new secret.
     */
    rotate: (owner: KeyOwner, rotation: OwnRotation): Promise<WriteResult<number, RotationRefusal>> =>
      retryUntil(rotation.deadlineMs, async () => {
        const { secret, graceSeconds } = rotation;
        const nowSeconds = Math.floor(rotation.nowMs / 1000);
        const [key] = await Promise.all([find(owner), rotation.mayWrite]);
        if (key?.status !== 'active') return notWritten('not_valid');
        if (key.secrets.some(({ hash }) => hash === secret.summary.hash)) return written(endOfOlder(key));

        const [newest, ...older] = validSecrets(key, nowSeconds);
        const replaced = older.length > 0 ? newest?.hash : undefined;
        const kept = replaced === undefined ? key : { ...key, secrets: older };
        const after = rotated(kept, secret.summary, { nowSeconds, olderEnd: nowSeconds + graceSeconds });
        const items = rotationItems(table.name, { key, after, replaced }, rotation);
        const result = await transactWrite(table, items);
        if (result.written) return written(endOfOlder(after));
        const failed = items.filter((_, index) => {
          const reason = result.reason[index];
          return reason !== undefined && isConditionFailure(reason);
        });
        if (failed.includes(items[1] as TransactItem)) return undefined;
        if (failed.some(({ ConditionCheck }) => ConditionCheck !== undefined)) return notWritten('not_valid');
        return failed.length > 0 ? notWritten('in_use') : undefined;
      }),
  };
};

export type OwnKeyStore = ReturnType<typeof ownKeyStore>;
