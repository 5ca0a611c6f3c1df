import { type Administration, requireSeller } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { parseDisplayName } from '#shared/values/display-name.ts';

/** Returns the name of a seller or key as it is stored. Throws `bad_input` if it is not allowed. */
export const requireName = (text: string): string => {
  const name = parseDisplayName(text);
  if (name === undefined) {
    throw refusal(
      'bad_input',
      'A name must have 1 to 100 visible characters and no control or invisible characters.',
    );
  }
  return name;
};

/** Creates a seller: active, without keys. */
export const createSeller = async (admin: Administration, name: string): Promise<Seller> => {
  const seller: Seller = {
    seller_id: admin.ids('sel'),
    name: requireName(name),
    status: 'active',
    user_count: 0,
    removed_count: 0,
    event_count: 0,
    created_at: admin.now(),
  };
  const details = { name: seller.name };
  const record = admin.record({ action: 'seller.created', seller_id: seller.seller_id, details });
  await admin.sellers.create(seller, record);
  return seller;
};

/** Renames a seller. The same name again changes nothing and writes no audit record. */
export const renameSeller = async (
  admin: Administration,
  sellerId: string,
  name: string,
): Promise<Seller> => {
  const seller = await requireSeller(admin, sellerId);
  const details = { from: seller.name, to: name };
  const record = admin.record({ action: 'seller.renamed', seller_id: sellerId, details });
  await admin.sellers.rename(sellerId, name, record);
  return { ...seller, name };
};
