import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { BUYER_HASH, checkedAt, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';

let people = 0;

/** Links a new person with a phone to a seller, as if it had been checked again a day later. `phoneHash`: the hash it is stored under. */
export const linkBuyer = async (
  table: Table,
  sellerId: string,
  phoneHash: string,
  more: { readonly external_id?: string; readonly created_at?: string; readonly display_name?: string } = {},
): Promise<User> => {
  people += 1;
  await registerBuyer(table);
  const result = await userStore(table).link({
    sellerId,
    person: new KeyedHash(`person${people}`),
    phone: new KeyedHash(phoneHash),
    buyer: buyerKey(BUYER_HASH),
    birthDay: '1991-04-04',
    user: {
      national_id_last_four: '0829',
      birth_date: '1370/1/15',
      phone: '+989121234567',
      display_name: 'Sara Ahmadi',
      created_at: '2026-11-21T10:00:00.000Z',
      ...more,
    },
  });
  if (!result.written) throw new Error(`the person was not linked: ${result.reason}`);
  return checkedAt(table, sellerId, result.value, '2026-11-22T08:00:00.000Z');
};
