import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { eventsPartition, removalBlockKey, removalSummaryKey } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { BLOCK_SIZE } from '#shared/users/removals.ts';
import type { User } from '#shared/users/schema.ts';
import { createSeller } from './linking.ts';
import type { UserStore } from './user-store.ts';

export const PHONES = ['phone-1', 'phone-2', 'phone-3'];
export const EXTERNAL_IDS = ['order:1', 'order:2', 'order:3'];
export const PAGE_SIZE = 2;

interface ModelUser {
  user: User;
  readonly person: string;
  readonly phone: string;
}

interface ModelEvent {
  readonly type: string;
  readonly user_id: string;
  readonly reason?: string;
}

/** What a seller's users must be, in the order of the links, and every change so far. */
export interface ModelSeller {
  readonly sellerId: string;
  readonly users: ModelUser[];
  readonly removedIds: string[];
  readonly events: ModelEvent[];
}

/** The hash of a text after some rotations of the hash secret. */
export const hashOf = (text: string, rotations: number): KeyedHash =>
  new KeyedHash(
    `${text}-under-${rotations}`,
    Array.from({ length: rotations }, (_, older) => `${text}-under-${rotations - 1 - older}`),
  );

/** Creates a seller whose first block has room for two users: every other ordinal of it was removed. */
export const createModelSeller = async (table: Table, sellerId: string): Promise<ModelSeller> => {
  const gone = BLOCK_SIZE - 2;
  await createSeller(table, sellerId, { user_count: gone, removed_count: gone });
  const removed_ordinals = new Uint8Array(BLOCK_SIZE / 8).fill(0xff);
  removed_ordinals[BLOCK_SIZE / 8 - 1] = 0b0011_1111;
  const removed_counts = new Uint8Array([gone >> 8, gone & 0xff]);
  const index = [
    { ...removalBlockKey(sellerId, 0), removed_ordinals },
    { ...removalSummaryKey(sellerId), removed_counts },
  ];
  for (const Item of index) await table.client.send(new PutCommand({ TableName: table.name, Item }));
  return { sellerId, users: [], removedIds: [], events: [] };
};

const usersOf = ({ users }: ModelSeller): User[] => users.map(({ user }) => user);

/** Compares every page, and one past the last. */
export const expectPages = async (store: UserStore, seller: ModelSeller): Promise<void> => {
  const users = usersOf(seller);
  const totalPages = Math.ceil(users.length / PAGE_SIZE);
  const numbers = Array.from({ length: totalPages + 1 }, (_, index) => index + 1);
  const pages = await Promise.all(numbers.map((page) => store.listPage(seller.sellerId, page, PAGE_SIZE)));
  expect(pages).toEqual(
    numbers.map((page) => ({
      users: users.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
      total: users.length,
      totalPages,
    })),
  );
};

/** Reads every id that was ever given, by its seller and by another one. */
export const expectIds = async (store: UserStore, seller: ModelSeller, other: ModelSeller): Promise<void> => {
  const users = usersOf(seller);
  const ids = [...users.map(({ id }) => id), ...seller.removedIds];
  const read = (sellerId: string) => Promise.all(ids.map((id) => store.getUser(sellerId, id)));
  expect(await read(seller.sellerId)).toEqual([...users, ...seller.removedIds.map(() => undefined)]);
  expect(await read(other.sellerId)).toEqual(ids.map(() => undefined));
};

/** Finds the users of every phone. */
export const expectPhones = async (
  store: UserStore,
  { sellerId, users }: ModelSeller,
  rotations: number,
): Promise<void> => {
  const all = { page: 1, pageSize: 100 };
  const found = await Promise.all(
    PHONES.map((phone) => store.findByPhone(sellerId, hashOf(phone, rotations), all)),
  );
  expect(found.map((page) => page.users)).toEqual(
    // All are checked at one time, so the later link comes first.
    PHONES.map((phone) =>
      users
        .filter((user) => user.phone === phone)
        .map(({ user }) => user)
        .toReversed(),
    ),
  );
};

/** Finds the user of every external id of this seller, whatever external ids the other one has. */
export const expectExternalIds = async (store: UserStore, seller: ModelSeller): Promise<void> => {
  const found = await Promise.all(EXTERNAL_IDS.map((id) => store.findByExternalId(seller.sellerId, id)));
  expect(found).toEqual(
    EXTERNAL_IDS.map((id) => usersOf(seller).find(({ external_id }) => external_id === id)),
  );
};

const eventFrom = ({ type, user_id, reason }: StoredItem) => ({
  type,
  user_id,
  ...(reason === undefined ? {} : { reason }),
});

/** Compares the events, which have the numbers 1 to n. */
export const expectEvents = async (table: Table, seller: ModelSeller): Promise<void> => {
  const events = await queryAll(table, { pk: eventsPartition(seller.sellerId) });
  expect(events.map(({ sk }) => Number(sk))).toEqual(events.map((_, index) => index + 1));
  expect(events.map(eventFrom)).toEqual(seller.events);
};
