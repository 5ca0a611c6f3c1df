import { type Administration, requireKey, requireSeller, step } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { moveToPlan } from './change-key.ts';

/** Makes a key valid again that a restore brought back as pending. Throws `bad_input` for any other key. */
export const confirmKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const { restored_at, ...pending } = await requireKey(admin, keyId);
  if (restored_at === undefined) throw refusal('bad_input', `${keyId} does not wait for keys confirm.`);
  const { seller_id, key_id, plan, usage_id: value } = pending;
  const { status: sellerStatus } = await requireSeller(admin, seller_id);
  const enabled = sellerStatus === 'active';
  const { id } = await step(admin, 'confirm: register with API Gateway', () =>
    admin.usagePlans.createKey({ name: admin.gatewayKeyName(key_id), value, enabled }),
  );
  await moveToPlan(admin, 'confirm', { gatewayKeyId: id, plan });
  const active: ApiKey = { ...pending, status: 'active', gateway_key_id: id };
  const record = admin.record({ action: 'key.confirmed', seller_id, key_id });
  const before = { ...pending, restored_at };
  const isActivated = await step(admin, 'confirm: activate', () =>
    admin.keys.save({ before, after: active, sellerStatus, record }),
  );
  if (!isActivated) throw refusal('changed_meanwhile', `Another admin is changing ${keyId}. Try again.`);
  return active;
};
