import { type Administration, requireKey, requireSeller, step } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import type { NewAuditRecord } from '#admin/stores/audit-store.ts';
import type { SellerStatus } from '#admin/stores/seller-schema.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { endInWords, requireFuture } from './issue-key.ts';
import { refusal } from './refusal.ts';

/** What a change makes of a key, and how the audit tells it. */
export interface PlannedChange {
  readonly after: ApiKey;
  readonly action: string;
  readonly details?: NewAuditRecord['details'];
}

/** A change that was written: the key as it was and as it is, and the mark that the flush takes away. */
export interface WrittenChange {
  readonly before: ApiKey;
  readonly after: ApiKey;
  readonly sellerStatus: SellerStatus;
  readonly since: string;
}

const MAX_TRIES = 5;

/** Refuses a key that is revoked, or not issued to the end. */
export const requireActive = (key: ApiKey): ApiKey => {
  if (key.status === 'revoked') throw refusal('key_revoked', `${key.key_id} is revoked.`);
  if (key.status === 'pending') {
    throw refusal(
      'key_pending',
      `${key.key_id} is being issued, or its issue was interrupted: see reconcile.`,
    );
  }
  return key;
};

/**
 * Reads a key, works out a change and writes it with all secrets of the key and its record, in one transaction. If somebody else
 * changed the key or its seller meanwhile, all of it is done anew from what they left.
 */
export const writeChange = async (
  admin: Administration,
  keyId: string,
  stepName: string,
  plan: (key: ApiKey) => PlannedChange,
): Promise<WrittenChange> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const before = await requireKey(admin, keyId);
    const { status: sellerStatus } = await requireSeller(admin, before.seller_id);
    const { after, action, details } = plan(before);
    const since = admin.now();
    const marked: ApiKey = { ...after, unflushed_since: since };
    const outcome = await step(admin, stepName, () =>
      admin.keys.save({
        before,
        after: marked,
        sellerStatus,
        record: {
          at: since,
          actor: admin.actor,
          action,
          seller_id: before.seller_id,
          key_id: keyId,
          ...(details === undefined ? {} : { details }),
        },
      }),
    );
    if (outcome === 'saved') return { before, after: marked, sellerStatus, since };
  }
  throw refusal('changed_meanwhile', `${keyId} is being changed by somebody else; try again.`);
};

/** Makes a written change act at once: the gateway forgets what the authorizer said before it. */
export const flushChange = async (
  admin: Administration,
  name: string,
  { after, since }: Pick<WrittenChange, 'after' | 'since'>,
): Promise<void> => {
  await step(admin, `${name}: flush the authorizer cache`, () => admin.usagePlans.flushAuthorizerCache());
  await step(admin, `${name}: note the flush`, () => admin.keys.markFlushed(after, since));
};

/** Puts a key into the plan that the table names and out of every other. */
export const moveToPlan = async (
  admin: Administration,
  name: string,
  gatewayKeyId: string,
  plan: PlanName,
): Promise<void> => {
  for (const other of PLAN_NAMES.filter((candidate) => candidate !== plan)) {
    await step(admin, `${name}: leave the plan ${other}`, () => admin.usagePlans.detach(gatewayKeyId, other));
  }
  await step(admin, `${name}: enter the plan ${plan}`, () => admin.usagePlans.attach(gatewayKeyId, plan));
};

/**
 * Moves a key to a plan. The table comes first: it is the truth that reconcile brings the gateway to. A key is in one plan of a stage,
 * so between leaving and entering, a fraction of a second, the gateway turns its requests away.
 */
export const assignPlan = async (admin: Administration, keyId: string, plan: PlanName): Promise<ApiKey> => {
  const change = await writeChange(admin, keyId, 'assign: write the plan', (key) => ({
    after: { ...requireActive(key), plan },
    action: 'key.assigned',
    details: { from: key.plan, to: plan },
  }));
  const { gateway_key_id } = change.after;
  if (gateway_key_id !== undefined) await moveToPlan(admin, 'assign', gateway_key_id, plan);
  await flushChange(admin, 'assign', change);
  return change.after;
};

/** Gives a key these scopes and no others, at once. */
export const setScopes = async (
  admin: Administration,
  keyId: string,
  scopes: readonly Scope[],
): Promise<ApiKey> => {
  if (scopes.length === 0)
    throw refusal('bad_input', 'A key needs at least one scope; revoke it to take all away.');
  const wanted = [...new Set(scopes)];
  const change = await writeChange(admin, keyId, 'scopes: write the scopes', (key) => ({
    after: { ...requireActive(key), scopes: wanted },
    action: 'key.scopes_set',
    details: { from: key.scopes.join(' '), to: wanted.join(' ') },
  }));
  await flushChange(admin, 'scopes', change);
  return change.after;
};

/** Lets a key end at `expiresAt` (epoch seconds), or never. A secret in its grace never gains time by it. */
export const setExpiry = async (
  admin: Administration,
  keyId: string,
  expiresAt: number | undefined,
): Promise<ApiKey> => {
  requireFuture(admin, expiresAt);
  const change = await writeChange(admin, keyId, 'expire: write the end', (key) => {
    const { expires_at: before, ...rest } = requireActive(key);
    return {
      after: expiresAt === undefined ? rest : { ...rest, expires_at: expiresAt },
      action: 'key.expiry_set',
      details: { from: endInWords(before), to: endInWords(expiresAt) },
    };
  });
  await flushChange(admin, 'expire', change);
  return change.after;
};
