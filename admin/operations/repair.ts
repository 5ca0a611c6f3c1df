import {
  type Administration,
  gatewayKeyNamePrefix,
  keyIdInGatewayName,
  requireSeller,
  step,
} from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { moveToPlan } from './change-key.ts';
import type { Difference } from './differences.ts';
import { withdrawPendingKey } from './issue-key.ts';
import { findGatewayKey, removeGatewayKey } from './revoke-key.ts';
import { rewriteSecrets } from './set-seller-status.ts';

/**
 * Repairs a difference of a key, from the key as it is now. A change of the table writes `record` in the same transaction. A change of
 * API Gateway alone writes it first, so that every change has its record.
 */
type RepairKey = (admin: Administration, key: ApiKey, record: NewAuditRecord) => Promise<void>;

const recordFirst = (admin: Administration, record: NewAuditRecord): Promise<void> =>
  step(admin, 'repair: write the audit record', () => admin.audit.write(record));

/** Brings an active key in API Gateway to the state in the table. */
const bringToGateway: RepairKey = async (admin, key, record) => {
  const { seller_id, key_id } = key;
  const { status } = await requireSeller(admin, seller_id);
  const name = admin.gatewayKeyName(key_id);
  const enabled = status === 'active';
  await recordFirst(admin, record);
  const present = await findGatewayKey(admin, key_id);
  if (present !== undefined && present.value !== key.usage_id) {
    await removeGatewayKey(admin, 'repair', present.id);
  }
  const { id } = await step(admin, 'repair: register with API Gateway', () =>
    admin.usagePlans.createKey({ name, value: key.usage_id, enabled }),
  );
  await moveToPlan(admin, 'repair', { gatewayKeyId: id, plan: key.plan });
  await step(admin, 'repair: enable or disable the key in API Gateway', () =>
    admin.usagePlans.setEnabled(id, enabled),
  );
  if (id === key.gateway_key_id) return;
  await step(admin, 'repair: store the id of API Gateway', () =>
    admin.keys.save({
      before: key,
      after: { ...key, gateway_key_id: id },
      sellerStatus: status,
      record: admin.record({ action: 'key.registered_again', seller_id, key_id }),
    }),
  );
};

/** Removes a key from API Gateway, with the audit record first. */
const unregister = async (
  admin: Administration,
  gatewayKeyId: string,
  record: NewAuditRecord,
): Promise<void> => {
  await recordFirst(admin, record);
  await removeGatewayKey(admin, 'repair', gatewayKeyId);
};

const flush = (admin: Administration): Promise<void> =>
  step(admin, 'repair: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());

/** Each repair that brings a key to the state that the table wants of it, and the status that the key must still have. */
const REPAIRS: Readonly<Record<string, { readonly status?: ApiKey['status']; readonly run: RepairKey }>> = {
  issue_interrupted: {
    status: 'pending',
    run: async (admin, key, { details }) =>
      withdrawPendingKey(admin, key, { registered: await findGatewayKey(admin, key.key_id), details }),
  },
  revoked_in_gateway: {
    status: 'revoked',
    async run(admin, key, record) {
      const present = await findGatewayKey(admin, key.key_id);
      if (present !== undefined) await unregister(admin, present.id, record);
    },
  },
  secret_differs: {
    async run(admin, key, record) {
      await step(admin, 'repair: write the secrets', () => rewriteSecrets(admin, key, record));
      await flush(admin);
    },
  },
  not_flushed: {
    async run(admin, key, record) {
      await flush(admin);
      if (key.unflushed_since !== undefined) await admin.keys.markFlushed(key, key.unflushed_since, record);
    },
  },
};

/** What every other difference of a key needs. */
const IN_GATEWAY = { status: 'active', run: bringToGateway } as const;

/** Deletes a key of API Gateway that the table does not have, unless it is gone or in the table by now. */
const removeUnknown = async (
  admin: Administration,
  gatewayKeyId: string,
  record: NewAuditRecord,
): Promise<void> => {
  for await (const { id, name } of admin.usagePlans.listKeys(gatewayKeyNamePrefix(admin.stage))) {
    if (id !== gatewayKeyId) continue;
    const keyId = keyIdInGatewayName(admin.stage, name);
    if (keyId === undefined || (await admin.keys.find(keyId)) !== undefined) return;
    return unregister(admin, id, record);
  }
};

const recordOf = (admin: Administration, { kind, seller, key }: Difference): NewAuditRecord =>
  admin.record({
    action: 'reconcile.repaired',
    seller_id: seller?.seller_id,
    key_id: key?.key_id,
    details: { difference: kind },
  });

/** Repairs one difference. True: it is gone, by this repair or by another change. */
export const repair = async (admin: Administration, difference: Difference): Promise<boolean> => {
  const { kind, key, seller, gatewayKeyId, plan } = difference;
  const record = recordOf(admin, difference);
  if (key !== undefined) {
    const { status, run } = REPAIRS[kind] ?? IN_GATEWAY;
    const current = await admin.keys.find(key.key_id);
    if (current !== undefined && (status ?? current.status) === current.status)
      await run(admin, current, record);
    return true;
  }
  if (seller?.unflushed_since !== undefined) {
    await flush(admin);
    await admin.sellers.markFlushed(seller.seller_id, seller.unflushed_since, record);
    return true;
  }
  if (gatewayKeyId === undefined) return false;
  if (plan === undefined) {
    await removeUnknown(admin, gatewayKeyId, record);
  } else {
    await recordFirst(admin, record);
    await step(admin, 'repair: remove the foreign key from the plan', () =>
      admin.usagePlans.detach(gatewayKeyId, plan),
    );
  }
  return true;
};
