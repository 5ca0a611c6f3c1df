import { type Administration, requireSeller, step } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import type { Seller, SellerStatus } from '#admin/stores/seller-schema.ts';
import { refusal } from './refusal.ts';

const NAMES = { suspended: 'suspend', active: 'resume' } as const;
const ACTIONS = { suspended: 'seller.suspended', active: 'seller.resumed' } as const;
const MAX_TRIES = 5;

/** Writes a key's secrets from what key and seller say now. A key that is changed at the same moment is read again. */
export const rewriteSecrets = async (admin: Administration, key: ApiKey): Promise<void> => {
  let current: ApiKey | undefined = key;
  for (let attempt = 1; attempt <= MAX_TRIES && current !== undefined; attempt += 1) {
    const { status } = await requireSeller(admin, key.seller_id);
    if ((await admin.keys.writeSecrets(current, status)) === 'saved') return;
    current = await admin.keys.find(key.key_id);
  }
  if (current !== undefined) {
    throw refusal('changed_meanwhile', `${key.key_id} is being changed by somebody else; try again.`);
  }
};

/**
 * Suspends a seller, which refuses all its keys, or resumes it. The seller's own item is the truth and comes first, with it no key can
 * be issued any more; then every secret follows, the cache, and the keys in the gateway. Doing it again finishes what was interrupted.
 */
export const setSellerStatus = async (
  admin: Administration,
  sellerId: string,
  status: SellerStatus,
): Promise<Seller> => {
  const name = NAMES[status];
  const seller = await requireSeller(admin, sellerId);
  const since = admin.now();
  await step(admin, `${name}: mark the seller`, () =>
    admin.sellers.setStatus(sellerId, status, {
      at: since,
      actor: admin.actor,
      action: ACTIONS[status],
      seller_id: sellerId,
    }),
  );
  const keys = (await admin.keys.listOf(sellerId)).filter((key) => key.status === 'active');
  for (const key of keys) {
    await step(admin, `${name}: write the secrets of a key`, () => rewriteSecrets(admin, key));
  }
  await step(admin, `${name}: flush the authorizer cache`, () => admin.usagePlans.flushAuthorizerCache());
  for (const { gateway_key_id: id } of keys) {
    if (id === undefined) continue;
    await step(admin, `${name}: switch a key in the gateway`, () =>
      admin.usagePlans.setEnabled(id, status === 'active'),
    );
  }
  await step(admin, `${name}: note the flush`, () => admin.sellers.markFlushed(sellerId, since));
  return { ...seller, status };
};
