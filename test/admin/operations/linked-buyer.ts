import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { BORN, BUYER_HASH, checkedAt, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';

let people = 0;

/** Links a new person with a phone to a seller, as if it had been checked again a day later. `phoneHash`: the hash it is stored under. */
export const linkBuyer = async (
  table: Table,
  sellerId: string,
  phoneHash: string,
  {
    linkedAt = '2026-11-21T10:00:00.000Z',
    ...more
  }: { readonly external_id?: string; readonly linkedAt?: string; readonly display_name?: string } = {},
): Promise<User> => {
  people += 1;
  await registerBuyer(table);
  const result = await userStore(table).link({
    sellerId,
    person: new KeyedHash(`person${people}`),
    phone: new KeyedHash(phoneHash),
    buyer: buyerKey(BUYER_HASH),
    body: {
      national_id: '******0829',
      birth_date: BORN,
      phone: '+989121234567',
      display_name: 'Sara Ahmadi',
      ...more,
    },
    linkedAt,
  });
  if (!result.written) throw new Error(`the person was not linked: ${result.reason}`);
  return checkedAt(table, sellerId, result.value, '2026-11-22T08:00:00.000Z');
};
