import { isDeepStrictEqual } from 'node:util';
import { type Administration, requireKey, requireSeller, step } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import type { NewAuditRecord } from '#admin/stores/audit-store.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { expiryText, requireFutureExpiry } from './issue-key.ts';
import { refusal } from './refusal.ts';

/** The key after a change, and the change as the audit records it. */
interface PlannedChange {
  readonly after: ApiKey;
  readonly action: string;
  readonly details?: NewAuditRecord['details'];
}

/** A change of a key: the name of its step, and the key after it. */
export interface KeyEdit {
  readonly step: string;
  readonly plan: (key: ApiKey) => PlannedChange;
}

const MAX_ATTEMPTS = 5;

/** Returns the key if it is active. Throws `key_revoked` or `key_pending`. */
export const requireActive = (key: ApiKey): ApiKey => {
  if (key.status === 'revoked') throw refusal('key_revoked', `${key.key_id} is revoked.`);
  if (key.status === 'pending') {
    throw refusal(
      'key_pending',
      `${key.key_id} is being issued, or its issue was interrupted. Run reconcile to see which.`,
    );
  }
  return key;
};

/**
 * Reads a key, plans a change and writes it with all secrets of the key and the audit record, in one transaction. If the key or its
 * seller has changed since it was read, it plans again from the new state. A change that changes nothing writes nothing and no record.
 * Returns the key before and after. Throws `changed_meanwhile` after 5 attempts.
 */
export const writeChange = async (
  admin: Administration,
  keyId: string,
  edit: KeyEdit,
): Promise<{ readonly before: ApiKey; readonly after: ApiKey }> => {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = await requireKey(admin, keyId);
    const { status: sellerStatus } = await requireSeller(admin, before.seller_id);
    const { after, action, details } = edit.plan(before);
    if (isDeepStrictEqual(after, before)) return { before, after };
    const record = admin.record({
      action,
      seller_id: before.seller_id,
      key_id: keyId,
      ...(details === undefined ? {} : { details }),
    });
    const marked: ApiKey = { ...after, unflushed_since: record.at };
    const outcome = await step(admin, edit.step, () =>
      admin.keys.save({ before, after: marked, sellerStatus, record }),
    );
    if (outcome === 'saved') return { before, after: marked };
  }
  throw refusal('changed_meanwhile', `Another admin is changing ${keyId}. Try again.`);
};

/** Makes the last written change of a key effective at once: API Gateway forgets the authorizer decisions made before it. */
export const flushChange = async (admin: Administration, name: string, key: ApiKey): Promise<void> => {
  await step(admin, `${name}: flush the authorizer cache`, () => admin.usagePlans.flushAuthorizerCache());
  const since = key.unflushed_since;
  if (since === undefined) return;
  await step(admin, `${name}: record the flush`, () => admin.keys.markFlushed(key, since));
};

/** Puts a key into a plan in API Gateway and takes it out of every other. */
export const moveToPlan = async (
  admin: Administration,
  name: string,
  { gatewayKeyId, plan }: { readonly gatewayKeyId: string; readonly plan: PlanName },
): Promise<void> => {
  for (const other of PLAN_NAMES.filter((candidate) => candidate !== plan)) {
    await step(admin, `${name}: leave the plan ${other}`, () => admin.usagePlans.detach(gatewayKeyId, other));
  }
  await step(admin, `${name}: enter the plan ${plan}`, () => admin.usagePlans.attach(gatewayKeyId, plan));
};

/**
 * Moves a key to a plan. The table is written first: reconcile brings API Gateway to the state of the table. API Gateway allows a key
 * one plan per stage. Between the two plans it refuses the key's requests for a fraction of a second.
 */
export const assignPlan = async (admin: Administration, keyId: string, plan: PlanName): Promise<ApiKey> => {
  const { after } = await writeChange(admin, keyId, {
    step: 'assign: write the plan',
    plan: (key) => ({
      after: { ...requireActive(key), plan },
      action: 'key.assigned',
      details: { from: key.plan, to: plan },
    }),
  });
  const { gateway_key_id: gatewayKeyId } = after;
  if (gatewayKeyId !== undefined) await moveToPlan(admin, 'assign', { gatewayKeyId, plan });
  await flushChange(admin, 'assign', after);
  return after;
};

/** Sets the scopes of a key, at once. Throws `bad_input` for an empty list. */
export const setScopes = async (
  admin: Administration,
  keyId: string,
  scopes: readonly Scope[],
): Promise<ApiKey> => {
  if (scopes.length === 0) {
    throw refusal(
      'bad_input',
      'A key must have at least one scope. To take all scopes away, revoke the key.',
    );
  }
  const unique = [...new Set(scopes)];
  const { after } = await writeChange(admin, keyId, {
    step: 'scopes: write the scopes',
    plan: (key) => ({
      after: { ...requireActive(key), scopes: unique },
      action: 'key.scopes_set',
      details: { from: key.scopes.join(' '), to: unique.join(' ') },
    }),
  });
  await flushChange(admin, 'scopes', after);
  return after;
};

/** Sets when a key expires (epoch seconds; undefined: never). It never extends a rotated secret beyond its grace period. */
export const setExpiry = async (
  admin: Administration,
  keyId: string,
  expiresAt: number | undefined,
): Promise<ApiKey> => {
  requireFutureExpiry(admin, expiresAt);
  const { after } = await writeChange(admin, keyId, {
    step: 'expire: write the expiry',
    plan: (key) => {
      const { expires_at: before, ...rest } = requireActive(key);
      return {
        after: expiresAt === undefined ? rest : { ...rest, expires_at: expiresAt },
        action: 'key.expiry_set',
        details: { from: expiryText(before), to: expiryText(expiresAt) },
      };
    },
  });
  await flushChange(admin, 'expire', after);
  return after;
};
