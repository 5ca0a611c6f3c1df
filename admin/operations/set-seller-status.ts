import { type Administration, requireSeller, step } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { Seller, SellerStatus } from '#admin/stores/seller-store.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';

const NAMES = { suspended: 'suspend', active: 'resume' } as const;
const ACTIONS = { suspended: 'seller.suspended', active: 'seller.resumed' } as const;
const MAX_ATTEMPTS = 5;

/**
 * Derives the secrets' items of a key from the key and its seller and writes them, with `record` in the same transaction if it is
 * given. If the key changes at the same moment, it is read again. Throws `changed_meanwhile` after 5 attempts.
 */
export const rewriteSecrets = async (
  admin: Administration,
  key: ApiKey,
  record?: NewAuditRecord,
): Promise<void> => {
  let current: ApiKey | undefined = key;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && current !== undefined; attempt += 1) {
    const { status } = await requireSeller(admin, key.seller_id);
    if (await admin.keys.writeSecrets(current, status, record)) return;
    current = await admin.keys.find(key.key_id);
  }
  if (current !== undefined) {
    throw refusal('changed_meanwhile', `Another admin is changing ${key.key_id}. Try again.`);
  }
};

/**
 * Suspends a seller, which makes all its keys invalid, or resumes it. The seller's item is written first: from then on no key can be issued for a suspended seller. Then follow its secrets, the authorizer cache and its keys in API Gateway. Running it again
 * completes what was interrupted; the audit gets one record.
 */
export const setSellerStatus = async (
  admin: Administration,
  sellerId: string,
  status: SellerStatus,
): Promise<Seller> => {
  const name = NAMES[status];
  const seller = await requireSeller(admin, sellerId);
  const record = admin.record({ action: ACTIONS[status], seller_id: sellerId });
  const isChanged = await step(admin, `${name}: mark the seller`, () =>
    admin.sellers.setStatus(sellerId, status, record),
  );
  const keys = (await admin.keys.listOf(sellerId)).filter((key) => key.status !== 'pending');
  for (const key of keys) {
    await step(admin, `${name}: write the secrets of a key`, () => rewriteSecrets(admin, key));
  }
  await step(admin, `${name}: flush the authorizer cache`, () => admin.usagePlans.flushAuthorizerCache());
  for (const { gateway_key_id: id } of keys) {
    if (id === undefined) continue;
    await step(admin, `${name}: enable or disable a key in API Gateway`, () =>
      admin.usagePlans.setEnabled(id, status === 'active'),
    );
  }
  const since = isChanged ? record.at : seller.unflushed_since;
  if (since !== undefined) {
    await step(admin, `${name}: record the flush`, () => admin.sellers.markFlushed(sellerId, since));
  }
  return { ...seller, status };
};
