import {
  type Administration,
  gatewayKeyNamePrefix,
  keyIdInGatewayName,
  requireSeller,
  step,
} from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { moveToPlan } from './change-key.ts';
import type { Difference, DifferenceKind } from './differences.ts';
import { withdrawPendingKey } from './issue-key.ts';
import { findGatewayKey, removeGatewayKey } from './revoke-key.ts';
import { rewriteSecrets } from './set-seller-status.ts';

/** A difference about a key, with the key as it is now and not as it was when it was compared. */
type MendKey = (admin: Administration, key: ApiKey) => Promise<void>;

/** Brings the gateway to what the table says of an active key, whichever part of it differs. */
const bringToGateway: MendKey = async (admin, key) => {
  const { status } = await requireSeller(admin, key.seller_id);
  const name = admin.gatewayKeyName(key.key_id);
  const enabled = status === 'active';
  const there = await findGatewayKey(admin, key.key_id);
  if (there !== undefined && there.value !== key.usage_id) await removeGatewayKey(admin, 'mend', there.id);
  const { id } = await step(admin, 'mend: register with the gateway', () =>
    admin.usagePlans.createKey({ name, value: key.usage_id, enabled }),
  );
  await moveToPlan(admin, 'mend', id, key.plan);
  await step(admin, 'mend: switch the key in the gateway', () => admin.usagePlans.setEnabled(id, enabled));
  if (id === key.gateway_key_id) return;
  await step(admin, 'mend: note the id of the gateway', () =>
    admin.keys.save({
      before: key,
      after: { ...key, gateway_key_id: id },
      sellerStatus: status,
      record: {
        at: admin.now(),
        actor: admin.actor,
        action: 'key.registered_again',
        seller_id: key.seller_id,
        key_id: key.key_id,
      },
    }),
  );
};

const withdraw: MendKey = async (admin, key) =>
  withdrawPendingKey(admin, key, await findGatewayKey(admin, key.key_id));

const removeRevoked: MendKey = async (admin, key) => {
  const there = await findGatewayKey(admin, key.key_id);
  if (there !== undefined) await removeGatewayKey(admin, 'mend', there.id);
};

const rewrite: MendKey = async (admin, key) => {
  await step(admin, 'mend: write the secrets', () => rewriteSecrets(admin, key));
  await step(admin, 'mend: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());
};

const flushKey: MendKey = async (admin, key) => {
  await step(admin, 'mend: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());
  if (key.unflushed_since !== undefined) await admin.keys.markFlushed(key, key.unflushed_since);
};

/** Which status a key must still have for a mend to make sense, and the mend. */
const KEY_MENDS: Partial<Record<DifferenceKind, readonly [ApiKey['status'] | 'any', MendKey]>> = {
  issue_interrupted: ['pending', withdraw],
  missing_in_gateway: ['active', bringToGateway],
  gateway_id_differs: ['active', bringToGateway],
  usage_id_differs: ['active', bringToGateway],
  without_plan: ['active', bringToGateway],
  wrong_plan: ['active', bringToGateway],
  enabled_but_suspended: ['active', bringToGateway],
  disabled_but_active: ['active', bringToGateway],
  revoked_in_gateway: ['revoked', removeRevoked],
  secret_differs: ['any', rewrite],
  not_flushed: ['any', flushKey],
};

/** A key of the gateway that the table does not know: looked for once more, for it may be gone by now. */
const removeUnknown = async (admin: Administration, gatewayKeyId: string): Promise<void> => {
  const prefix = gatewayKeyNamePrefix(admin.stage);
  for await (const { id, name } of admin.usagePlans.listKeys(prefix)) {
    if (id !== gatewayKeyId) continue;
    const keyId = keyIdInGatewayName(admin.stage, name);
    const isUnknown = keyId !== undefined && (await admin.keys.find(keyId)) === undefined;
    if (isUnknown) await removeGatewayKey(admin, 'mend', id);
    return;
  }
};

/** Mends one difference. True: it is no more, by this or by somebody else meanwhile. */
export const mend = async (admin: Administration, difference: Difference): Promise<boolean> => {
  const { kind, key, seller, gatewayKeyId, plan } = difference;
  if (key !== undefined) {
    const [status, run] = KEY_MENDS[kind] ?? ['any', undefined];
    if (run === undefined) return false;
    const current = await admin.keys.find(key.key_id);
    if (current !== undefined && (status === 'any' || current.status === status)) await run(admin, current);
    return true;
  }
  if (seller?.unflushed_since !== undefined) {
    await step(admin, 'mend: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());
    await admin.sellers.markFlushed(seller.seller_id, seller.unflushed_since);
    return true;
  }
  if (gatewayKeyId === undefined) return false;
  if (plan === undefined) await removeUnknown(admin, gatewayKeyId);
  else await step(admin, 'mend: take the stranger out', () => admin.usagePlans.detach(gatewayKeyId, plan));
  return true;
};
