import { type KeyedHashes, keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { newPerson } from '#test/generated-people.ts';
import { BUYER_HASH, linked, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';

const OLD_SECRET = 'o'.repeat(40);

/** Keyed hashes in the middle of a rotation: `older` makes what an earlier function stored. */
export const hashes: KeyedHashes = keyedHashesFrom(
  fixedSecret(JSON.stringify({ current: 'n'.repeat(40), previous: [OLD_SECRET] })),
);
export const olderHashes: KeyedHashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: OLD_SECRET })));

/** Links a new person to a seller in the store, without the checks of create-user. */
export const linkNewUser = async (
  table: Table,
  sellerId: string,
  { phone, by = hashes }: { readonly phone?: string; readonly by?: KeyedHashes } = {},
): Promise<User> => {
  const person = { ...newPerson(), ...(phone === undefined ? {} : { phone }) };
  await registerBuyer(table);
  return linked(userStore(table), {
    sellerId,
    person: await by.person(sellerId, person.national_id),
    phone: await by.phone(person.phone),
    buyer: buyerKey(BUYER_HASH),
    birthDay: '1991-04-04',
    user: {
      national_id_last_four: person.national_id.slice(-4),
      birth_date: person.birth_date,
      phone: person.phone,
      display_name: person.display_name,
      created_at: '2026-11-21T07:00:00.000Z',
    },
  });
};
