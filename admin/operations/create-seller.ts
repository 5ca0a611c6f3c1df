import type { Administration } from '#admin/administration.ts';
import type { Seller } from '#admin/stores/seller-schema.ts';
import { parseDisplayName } from '#shared/users/display-name.ts';
import { refusal } from './refusal.ts';

/** A name of a seller or a key as it is kept, or a refusal. */
export const requireName = (text: string): string => {
  const name = parseDisplayName(text);
  if (name === undefined) {
    throw refusal('bad_input', 'A name has 1 to 100 characters and no control or bidi-override characters.');
  }
  return name;
};

/** Makes a seller, active and without keys. */
export const createSeller = async (admin: Administration, name: string): Promise<Seller> => {
  const created_at = admin.now();
  const seller: Seller = {
    seller_id: admin.ids('sel'),
    name: requireName(name),
    status: 'active',
    user_count: 0,
    created_at,
  };
  await admin.sellers.create(seller, {
    at: created_at,
    actor: admin.actor,
    action: 'seller.created',
    seller_id: seller.seller_id,
    details: { name: seller.name },
  });
  return seller;
};
