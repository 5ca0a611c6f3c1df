import { type Administration, requireSeller, step } from '#admin/administration.ts';
import type { ApiKey, SecretSummary } from '#admin/stores/api-key-schema.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { hashApiKey, lastFourOf, newApiKey } from '#shared/api-keys/format.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { requireName } from './create-seller.ts';
import { Refusal, refusal } from './refusal.ts';

/** What a new key may do. `expiresAt`: epoch seconds. */
export interface KeyRequest {
  readonly sellerId: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number;
}

/** A key with its secret in the clear: the only moment it is known. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** 238 bits: nobody guesses it, though knowing it opens nothing. API Gateway takes 20 to 128 characters. */
const USAGE_ID_LENGTH = 40;

/** A new secret and what is kept of it. */
export const newSecret = (admin: Administration): { text: string; summary: SecretSummary } => {
  const text = newApiKey(admin.keyPrefix);
  return {
    text,
    summary: {
      hash: hashApiKey(text),
      prefix: admin.keyPrefix,
      last_four: lastFourOf(text),
      created_at: admin.now(),
    },
  };
};

/** The end of a key as the audit tells it. */
export const endInWords = (expiresAt: number | undefined): string =>
  expiresAt === undefined ? 'never' : new Date(expiresAt * 1000).toISOString();

/** Refuses an end that is not ahead. */
export const requireFuture = (admin: Administration, expiresAt: number | undefined): void => {
  if (expiresAt !== undefined && expiresAt * 1000 <= admin.clock()) {
    throw refusal('bad_input', 'A key has to expire in the future.');
  }
};

const pendingKey = (admin: Administration, request: KeyRequest, secret: SecretSummary): ApiKey => ({
  seller_id: request.sellerId,
  key_id: admin.ids('key'),
  name: requireName(request.name),
  scopes: [...new Set(request.scopes)],
  plan: request.plan,
  usage_id: randomBase62(USAGE_ID_LENGTH),
  status: 'pending',
  created_at: secret.created_at,
  ...(request.expiresAt === undefined ? {} : { expires_at: request.expiresAt }),
  secrets: [secret],
  version: 1,
});

/**
 * Undoes an issue that was not finished. Its secret was shown to nobody, so there is nothing to finish it for. The gateway's key goes
 * first: what is left of an interruption here is a pending key again.
 */
export const withdrawPendingKey = async (
  admin: Administration,
  key: ApiKey,
  registered: Pick<GatewayKey, 'id'> | undefined,
): Promise<void> => {
  if (registered !== undefined) {
    await step(admin, 'issue: withdraw from the gateway', async () => {
      await admin.usagePlans.detach(registered.id, key.plan);
      await admin.usagePlans.deleteKey(registered.id);
    });
  }
  await step(admin, 'issue: withdraw from the table', () =>
    admin.keys.removePending(key, {
      at: admin.now(),
      actor: admin.actor,
      action: 'key.withdrawn',
      seller_id: key.seller_id,
      key_id: key.key_id,
    }),
  );
};

/** Registers a pending key with the gateway. A gateway that is full leaves nothing behind. */
const register = async (admin: Administration, pending: ApiKey): Promise<GatewayKey> => {
  const key = { name: admin.gatewayKeyName(pending.key_id), value: pending.usage_id, enabled: true };
  try {
    return await admin.usagePlans.createKey(key);
  } catch (error) {
    if (error instanceof Refusal) await withdrawPendingKey(admin, pending, undefined);
    throw error;
  }
};

/**
 * Issues a key. Until the last step it opens nothing: the table holds it as pending, with no secret that the authorizer would find.
 * The last step makes it work, in one transaction with its record; before that, an interruption leaves what `reconcile` withdraws.
 */
export const issueKey = async (admin: Administration, request: KeyRequest): Promise<IssuedKey> => {
  if (request.scopes.length === 0) throw refusal('bad_input', 'A key needs at least one scope.');
  requireFuture(admin, request.expiresAt);
  const seller = await requireSeller(admin, request.sellerId);
  const suspended = () =>
    refusal('seller_suspended', `${seller.seller_id} is suspended; resume it before it gets a key.`);
  if (seller.status !== 'active') throw suspended();
  const { text, summary } = newSecret(admin);
  const pending = pendingKey(admin, request, summary);

  const recorded = await step(admin, 'issue: record as pending', () => admin.keys.createPending(pending));
  if (recorded === 'stale') throw suspended();
  const registered = await step(admin, 'issue: register with the gateway', () => register(admin, pending));
  await step(admin, 'issue: attach to the plan', () => admin.usagePlans.attach(registered.id, pending.plan));
  const active: ApiKey = { ...pending, status: 'active', gateway_key_id: registered.id };
  const activated = await step(admin, 'issue: activate', () =>
    admin.keys.save({
      before: pending,
      after: active,
      sellerStatus: 'active',
      record: {
        at: admin.now(),
        actor: admin.actor,
        action: 'key.issued',
        seller_id: active.seller_id,
        key_id: active.key_id,
        details: {
          plan: active.plan,
          scopes: active.scopes.join(' '),
          expires_at: endInWords(active.expires_at),
        },
      },
    }),
  );
  if (activated === 'stale') {
    await withdrawPendingKey(admin, pending, registered);
    throw suspended();
  }
  return { key: active, secret: text };
};
