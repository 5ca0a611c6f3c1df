import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey, sellerKey, userKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { NewLink } from '#shared/users/link-user.ts';
import type { User } from '#shared/users/schema.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { type BirthDate, parseBirthDate } from '#shared/values/birth-date.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type UserStore, userStore } from './user-store.ts';

/** The phone hash under which the buyer of every link is registered. */
export const BUYER_HASH = 'registered buyer';

/** Stores a buyer who is registered. */
export const registerBuyer = ({ client, name }: Table, buyerHash = BUYER_HASH) =>
  client.send(new PutCommand({ TableName: name, Item: { ...buyerKey(buyerHash), buyer_id: 'byr_1' } }));

/** The counts of a new seller. */
const NO_USERS = { user_count: 0, removed_count: 0, event_count: 0 };

/** Stores a seller record, and the buyer of its links. */
export const createSeller = async (
  table: Table,
  sellerId: string,
  counts: Partial<typeof NO_USERS> = {},
): Promise<void> => {
  const Item = { ...sellerKey(sellerId), ...NO_USERS, ...counts };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  await registerBuyer(table);
};

export const BORN = parseBirthDate('1370/1/15') as BirthDate;

/** A link of a person with a phone of its own, unless another is named. */
export const linkOf = (sellerId: string, person: string, phone = person): NewLink => ({
  sellerId,
  person: new KeyedHash(`hash-of-${person}`),
  phone: new KeyedHash(`phone-of-${phone}`),
  buyer: buyerKey(BUYER_HASH),
  body: {
    national_id: '******0829',
    birth_date: BORN,
    phone: `+98999-${phone}`,
    display_name: person,
  },
  linkedAt: '2026-11-21T00:00:00.000Z',
});

/** A link with an external id. */
export const withExternalId = (link: NewLink, external_id: string | undefined): NewLink => ({
  ...link,
  body: { ...link.body, external_id },
});

/** Returns the person whom a seller has linked under a hash. */
export const findPerson = async (
  store: Pick<UserStore, 'readPerson'>,
  sellerId: string,
  personHash: string,
) =>
  (
    await store.readPerson({
      sellerId,
      person: new KeyedHash(personHash),
      phone: new KeyedHash('none'),
      limits: [],
      nowMs: 0,
    })
  ).linked;

/** Makes a link that must succeed; returns the new user. */
export const linked = async (store: Pick<UserStore, 'link'>, link: NewLink): Promise<User> => {
  const result = await store.link(link);
  if (!result.written) throw new Error(`${link.body.display_name} was not linked: ${result.reason}`);
  return result.value;
};

/** Every item of the table whose partition key begins with `prefix`. */
export const itemsOf = async ({ client, name }: Table, prefix: string): Promise<StoredItem[]> => {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
  return Items.filter(({ pk }) => String(pk).startsWith(prefix));
};

/** The error of the SDK when the database canceled a transaction: one reason per item. */
export const canceledFor = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'canceled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

/** The error of the SDK when no response came in time. */
export const noResponse = Object.assign(new Error('no response'), { name: 'TimeoutError' });

/** A store whose first `times` transactions do `instead`; `send` sends the transaction as it is. */
export const storeWhose = (
  table: Table,
  instead: (send: () => Promise<unknown>) => Promise<unknown>,
  times = 1,
): UserStore => {
  let left = times;
  const intercepted = interceptedTable(table, ({ name }, send) => {
    if (name !== 'TransactWriteCommand' || left === 0) return send();
    left -= 1;
    return instead(send);
  });
  return userStore(intercepted);
};

/** Sends a transaction twice, as the SDK does when no response came; returns the second response. */
export const resend = async (send: () => Promise<unknown>): Promise<unknown> => {
  await send();
  return send();
};

/** Changes the time of the last check of a user in the store. Returns the user after it. */
export const checkedAt = async (
  { client, name }: Table,
  sellerId: string,
  user: User,
  at: string,
): Promise<User> => {
  const change = {
    TableName: name,
    Key: userKey(sellerId, Number(ordinalOf(user.id))),
    UpdateExpression: 'SET checked_at = :at',
    ExpressionAttributeValues: { ':at': at },
  };
  await client.send(new UpdateCommand(change));
  return { ...user, checked_at: at };
};
