import { AdminError } from '#admin/admin-error.ts';
import { type Administration, requireSeller } from '#admin/administration.ts';
import { usersOf } from '#admin/stores/seller-store.ts';
import { setSellerStatus } from './sellers.ts';

/** The action of two records: of the seller, and of the deployment, where the id of a seller that is in no list any more is found. */
export const SELLER_DELETED = 'seller.deleted';

/** Throws `seller_in_use` if the seller has users, or keys that are not revoked. */
export const requireUnused = async (admin: Administration, sellerId: string): Promise<void> => {
  const users = usersOf(await requireSeller(admin, sellerId));
  const keys = (await admin.keys.listOf(sellerId)).filter(({ status }) => status !== 'revoked').length;
  if (users + keys === 0) return;
  throw new AdminError(
    'seller_in_use',
    `${sellerId} has users: ${users}, and keys that are not revoked: ${keys}. Remove the users (users remove --all) and revoke the keys first.`,
  );
};

/**
 * Deletes a seller without users: its item, its entry in the list, its revoked keys, also in API Gateway. It is suspended first, so that no key
 * is issued meanwhile. After an interruption, run it again. Its audit, events, codes and ended links stay.
 */
export const deleteSeller = async (admin: Administration, sellerId: string): Promise<void> => {
  await requireUnused(admin, sellerId);
  await setSellerStatus(admin, sellerId, 'suspended');
  await requireUnused(admin, sellerId);
  for (const key of await admin.keys.listOf(sellerId)) await admin.keys.removeRevoked(key);
  const seller = await requireSeller(admin, sellerId);
  const record = admin.record({
    action: SELLER_DELETED,
    seller_id: sellerId,
    details: { name: seller.name },
  });
  const ofDeployment = admin.record({
    action: SELLER_DELETED,
    details: { seller_id: sellerId, name: seller.name },
  });
  if (await admin.sellers.remove(seller, [record, ofDeployment])) return;
  throw new AdminError('changed_meanwhile', `${sellerId} was changed meanwhile. Try again.`);
};
