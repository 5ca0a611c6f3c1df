import { isDeepStrictEqual } from 'node:util';
import { AdminError } from '#admin/admin-error.ts';
import { type Administration, requireKey } from '#admin/administration.ts';
import { type ApiKey, type SecretSummary, secretEnd } from '#shared/api-keys/api-key-item.ts';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import { newSecret, rotated, validSecrets } from '#shared/api-keys/secret.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import {
  expiryText,
  type IssuedKey,
  requireFutureExpiry,
  requireGrantable,
  withdrawPendingKey,
} from './issue-key.ts';
import { bringToGateway, flushAfterChange, writeKey } from './key-state.ts';

/** A change of a key. `details` are those of its audit record. */
interface KeyEdit {
  readonly action: string;
  readonly change: (key: ApiKey) => ApiKey;
  readonly details?: (before: ApiKey, after: ApiKey) => NewAuditRecord['details'];
}

/** The details `from` and `to`: a text about the key before and after. */
export const fromTo = (text: (key: ApiKey) => string) => (before: ApiKey, after: ApiKey) => ({
  from: text(before),
  to: text(after),
});

/** Returns the key if it is active. Throws `key_revoked` or `key_pending`. */
export const requireActive = (key: ApiKey): ApiKey => {
  if (key.status === 'revoked') throw new AdminError('key_revoked', `${key.key_id} is revoked.`);
  if (key.status === 'pending') {
    throw new AdminError(
      'key_pending',
      `${key.key_id} is being issued, or its issue was interrupted. Run reconcile to see which.`,
    );
  }
  return key;
};

/** Twice the time of the cache: a decision on the key as it was may be cached until the change is written, some seconds after `nowSeconds`. */
const REACH_SECONDS = 2 * DECISION_CACHE_SECONDS;

/** Epoch seconds; never is infinity, and a secret that the key lacks has ended. */
const endIn = (key: ApiKey, { hash }: SecretSummary): number => {
  const secret = key.secrets.find((each) => each.hash === hash);
  return secret === undefined ? 0 : (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY);
};

/** Whether a valid secret ends sooner than it did, and before a cached decision on it is forgotten. */
const endsWithinReach = (before: ApiKey, after: ApiKey, nowSeconds: number): boolean =>
  validSecrets(before, nowSeconds).some((secret) => {
    const end = endIn(after, secret);
    return end < endIn(before, secret) && end < nowSeconds + REACH_SECONDS;
  });

/**
 * Changes a key: writes it with all its secrets and the audit record in one transaction. Then flushes the authorizer cache, if a secret ends
 * within ten minutes by it, or if an earlier change is still marked; any other change takes effect within the five minutes of the cache. A change
 * that changes nothing writes nothing and no record. Returns the key after it. Throws `service_unavailable` after 10 s of changes by others.
 */
export const changeKey = async (
  admin: Administration,
  keyId: string,
  { action, change, details }: KeyEdit,
): Promise<ApiKey> => {
  const key = await writeKey(admin, { key_id: keyId }, async (before, sellerStatus) => {
    const after = change(before);
    if (isDeepStrictEqual(after, before)) return before;
    const about = { seller_id: before.seller_id, key_id: keyId, details: details?.(before, after) };
    const record = admin.record({ action, ...about });
    const isFlushed = endsWithinReach(before, after, Math.floor(admin.clock() / 1000));
    const marked: ApiKey = isFlushed ? { ...after, unflushed_since: record.at } : after;
    return (await admin.keys.save({ before, after: marked, sellerStatus, record })) ? marked : undefined;
  });
  if (key.unflushed_since !== undefined) await flushAfterChange(admin, key);
  return key;
};

/** Moves a key to a plan. The table is written first: reconcile brings API Gateway to the state of the table. */
export const assignPlan = async (admin: Administration, keyId: string, plan: PlanName): Promise<ApiKey> => {
  const key = await changeKey(admin, keyId, {
    action: 'key.assigned',
    change: (before) => ({ ...requireActive(before), plan }),
    details: fromTo((either) => either.plan),
  });
  await bringToGateway(admin, key);
  return key;
};

/** Sets the scopes of a key. Throws `bad_input` for an empty list. */
export const setScopes = async (admin: Administration, keyId: string, wanted: readonly Scope[]) => {
  requireGrantable(wanted);
  const scopes = [...new Set(wanted)];
  return changeKey(admin, keyId, {
    action: 'key.scopes_set',
    change: (key) => ({ ...requireActive(key), scopes }),
    details: fromTo((key) => key.scopes.join(' ')),
  });
};

/** Gives a key another name. The seller sees it too. */
export const renameKey = (admin: Administration, keyId: string, name: string) =>
  changeKey(admin, keyId, {
    action: 'key.renamed',
    change: (key) => ({ ...requireActive(key), name }),
    details: fromTo((key) => key.name),
  });

/** Sets when a key expires (epoch seconds; undefined: never). It never extends a rotated secret beyond its grace period. */
export const setExpiry = async (admin: Administration, keyId: string, expiresAt: number | undefined) => {
  requireFutureExpiry(admin, expiresAt);
  return changeKey(admin, keyId, {
    action: 'key.expiry_set',
    change(key) {
      const { expires_at: _, ...rest } = requireActive(key);
      return expiresAt === undefined ? rest : { ...rest, expires_at: expiresAt };
    },
    details: fromTo((key) => expiryText(key.expires_at)),
  });
};

/** All secrets of a key are written in one transaction, which holds 100 items. Ten rotations within one grace period are a mistake. */
const MAX_SECRETS = 10;

/**
 * Gives a key a new secret. Id, plan, limits and expiry stay. The old secret ends at the earlier of its own end and now plus
 * `graceSeconds`; with 0, at once. One transaction adds the new secret and sets the end of the old one. If it is interrupted before
 * the new secret was shown, rotate again.
 */
export const rotateKey = async (
  admin: Administration,
  keyId: string,
  graceSeconds: number,
): Promise<IssuedKey> => {
  const { text, summary } = newSecret(admin.keyPrefix, { created_at: admin.now(), created_by: 'admin' });
  const nowSeconds = Math.floor(admin.clock() / 1000);
  const key = await changeKey(admin, keyId, {
    action: 'key.rotated',
    change(before) {
      const valid = validSecrets(requireActive(before), nowSeconds);
      if (valid.length >= MAX_SECRETS) {
        throw new AdminError(
          'too_many_secrets',
          `${keyId} has ${valid.length} valid secrets. Wait until one of them ends, or revoke the key.`,
        );
      }
      return rotated(before, summary, { nowSeconds, olderEnd: nowSeconds + graceSeconds });
    },
    details: () => ({ grace_seconds: graceSeconds, last_four: summary.last_four }),
  });
  return { key, secret: text };
};

/**
 * Revokes a key for good. The first write succeeds whoever else changes the key, and ends its rotations. Then the authorizer refuses its
 * secrets, its cache is flushed, and the key is deleted from API Gateway, which frees one key of the account's quota. Running it again
 * finishes what was interrupted; the audit gets one record.
 */
export const revokeKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const key = await requireKey(admin, keyId);
  const { seller_id, status } = key;
  if (status === 'pending' && (await withdrawPendingKey(admin, key))) {
    await admin.authorizerCache.flush();
    return { ...key, status: 'revoked' };
  }
  await admin.keys.revoke(key, admin.record({ action: 'key.revoked', seller_id, key_id: keyId }));
  // Read after the mark: no secret is missing from it.
  const revoked = await requireKey(admin, keyId);
  await admin.keys.revokeSecrets(revoked);
  await flushAfterChange(admin, revoked);
  await bringToGateway(admin, revoked);
  return revoked;
};
