import { isDeepStrictEqual } from 'node:util';
import { type Administration, requireKey, requireSeller, step } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { expiryText, requireFutureExpiry, requireGrantable } from './issue-key.ts';

/** A change of a key. `write` and `name` are in the names of its steps, `action` is in its audit record. */
interface KeyEdit {
  readonly name: string;
  readonly write: string;
  readonly action: string;
  /** Returns the key after the change, and the details of the audit record. */
  readonly change: (key: ApiKey) => { after: ApiKey; details?: NewAuditRecord['details'] };
  /** What follows in API Gateway, before the flush. */
  readonly beforeFlush?: (after: ApiKey) => Promise<void>;
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

/** Makes and writes a change. If the key or its seller has changed since it was read, it is made again from the new state. */
const writeChange = async (
  admin: Administration,
  keyId: string,
  { name, write, change, action }: KeyEdit,
): Promise<ApiKey> => {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = await requireKey(admin, keyId);
    const { seller_id, status: sellerStatus } = await requireSeller(admin, before.seller_id);
    const { after, details } = change(before);
    if (isDeepStrictEqual(after, before)) return after;
    const record = admin.record({ action, seller_id, key_id: keyId, details });
    const marked: ApiKey = { ...after, unflushed_since: record.at };
    const isWritten = await step(admin, `${name}: ${write}`, () =>
      admin.keys.save({ before, after: marked, sellerStatus, record }),
    );
    if (isWritten) return marked;
  }
  throw refusal('changed_meanwhile', `${keyId} is being changed by somebody else. Try again.`);
};

/** Makes API Gateway forget the authorizer decisions of before a change of a key. */
export const flushAfterChange = async (admin: Administration, name: string, key: ApiKey): Promise<void> => {
  const { unflushed_since: since } = key;
  await step(admin, `${name}: flush the authorizer cache`, () => admin.usagePlans.flushAuthorizerCache());
  if (since !== undefined) {
    await step(admin, `${name}: record the flush`, () => admin.keys.markFlushed(key, since));
  }
};

/**
 * Changes a key: writes it with all its secrets and the audit record in one transaction, then flushes the authorizer cache. A change that
 * changes nothing writes nothing and no record. Returns the key after it. Throws `changed_meanwhile` after 5 attempts.
 */
export const changeKey = async (admin: Administration, keyId: string, edit: KeyEdit): Promise<ApiKey> => {
  const after = await writeChange(admin, keyId, edit);
  await edit.beforeFlush?.(after);
  await flushAfterChange(admin, edit.name, after);
  return after;
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
export const assignPlan = (admin: Administration, keyId: string, plan: PlanName) =>
  changeKey(admin, keyId, {
    name: 'assign',
    write: 'write the plan',
    action: 'key.assigned',
    change: (key) => ({ after: { ...requireActive(key), plan }, details: { from: key.plan, to: plan } }),
    async beforeFlush({ gateway_key_id: gatewayKeyId }) {
      if (gatewayKeyId !== undefined) await moveToPlan(admin, 'assign', { gatewayKeyId, plan });
    },
  });

/** Sets the scopes of a key. Throws `bad_input` for an empty list. */
export const setScopes = async (admin: Administration, keyId: string, wanted: readonly Scope[]) => {
  if (wanted.length === 0) {
    throw refusal(
      'bad_input',
      'A key must have at least one scope. To take all scopes away, revoke the key.',
    );
  }
  requireGrantable(wanted);
  const scopes = [...new Set(wanted)];
  return changeKey(admin, keyId, {
    name: 'scopes',
    write: 'write the scopes',
    action: 'key.scopes_set',
    change: (key) => ({
      after: { ...requireActive(key), scopes },
      details: { from: key.scopes.join(' '), to: scopes.join(' ') },
    }),
  });
};

/** Gives a key another name. The seller sees it too. */
export const renameKey = (admin: Administration, keyId: string, name: string) =>
  changeKey(admin, keyId, {
    name: 'rename',
    write: 'write the name',
    action: 'key.renamed',
    change: (key) => ({ after: { ...requireActive(key), name }, details: { from: key.name, to: name } }),
  });

/** Sets when a key expires (epoch seconds; undefined: never). It never extends a rotated secret beyond its grace period. */
export const setExpiry = async (admin: Administration, keyId: string, expiresAt: number | undefined) => {
  requireFutureExpiry(admin, expiresAt);
  return changeKey(admin, keyId, {
    name: 'expire',
    write: 'write the expiry',
    action: 'key.expiry_set',
    change: (key) => {
      const { expires_at: before, ...rest } = requireActive(key);
      return {
        after: expiresAt === undefined ? rest : { ...rest, expires_at: expiresAt },
        details: { from: expiryText(before), to: expiryText(expiresAt) },
      };
    },
  });
};
