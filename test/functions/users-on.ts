import { type KeyedHashes, keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { BORN, BUYER_HASH, checkedAt, linked, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { testHashes } from './create-user-deps.ts';

const [OLD_SECRET, MIDDLE_SECRET, NEW_SECRET] = ['o', 'm', 'n'].map((letter) => letter.repeat(40));

/** Keyed hashes after two rotations: `olderHashes` makes what a function stored before both of them. */
export const hashes: KeyedHashes = keyedHashesFrom(
  fixedSecret(JSON.stringify({ current: NEW_SECRET, previous: [MIDDLE_SECRET, OLD_SECRET] })),
);
export const olderHashes: KeyedHashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: OLD_SECRET })));

const LINKED_AT = '2026-11-21T07:00:00.000Z';
const CHECKED_AT = '2026-11-21T07:10:00.000Z';

/** Links a person to a seller in the store, as if it had been checked again ten minutes later. */
export const linkPerson = async (
  table: Table,
  sellerId: string,
  person: NewUser = newPerson(),
  by: KeyedHashes = testHashes,
): Promise<User> => {
  await registerBuyer(table);
  const user = await linked(userStore(table), {
    sellerId,
    person: await by.person(sellerId, person.national_id),
    phone: await by.phone(person.phone),
    buyer: buyerKey(BUYER_HASH),
    body: { ...person, birth_date: BORN },
    linkedAt: LINKED_AT,
  });
  return checkedAt(table, sellerId, user, CHECKED_AT);
};

/** Links a new person to a seller in the store, without the checks of create-user. */
export const linkNewUser = (
  table: Table,
  sellerId: string,
  { phone, by = hashes }: { readonly phone?: string; readonly by?: KeyedHashes } = {},
): Promise<User> => {
  const person = newPerson();
  return linkPerson(table, sellerId, { ...person, phone: phone ?? person.phone }, by);
};
