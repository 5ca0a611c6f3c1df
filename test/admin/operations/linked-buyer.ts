import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { putAll } from '#admin/stores/batches.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { User } from '#shared/users/schema.ts';
import { ordinalOf, userIdAt } from '#shared/users/user-id.ts';
import { BORN, BUYER_HASH, checkedAt, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { pointersOf } from './invariants.ts';

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

/**
 * Links a new person, and puts items like those of that user for more, without the transactions that would link them. Returns the ids in
 * their order. They have no events.
 */
export const linkMany = async (
  table: Table,
  sellerId: string,
  phoneHash: string,
  count: number,
): Promise<readonly string[]> => {
  const { id } = await linkBuyer(table, sellerId, phoneHash);
  const first = ordinalOf(id) ?? 1;
  const item = await getItem(table, userKey(sellerId, first));
  const others = Array.from({ length: count - 1 }, (_, index) => ({
    ...item,
    ...userKey(sellerId, first + index + 1),
    id: userIdAt(first + index + 1, String(index).padStart(15, '0')),
    person_hash: `person ${first + index + 1} of ${sellerId}`,
  }));
  await putAll(
    table,
    others.flatMap((other) => [other, ...pointersOf(sellerId, other)]),
  );
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: sellerKey(sellerId),
      UpdateExpression: 'ADD user_count :others',
      ExpressionAttributeValues: { ':others': others.length },
    }),
  );
  return [id, ...others.map((other) => other.id)];
};
