import { isDeepStrictEqual } from 'node:util';
import type { Table } from '#shared/table/client.ts';
import { externalIdKey, phoneLinkKey } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { userReads } from '#shared/users/read-users.ts';
import { personItem } from '#shared/users/user-item.ts';
import { parseBirthDate } from '#shared/values/birth-date.ts';
import { keyText } from '#test/table/items-in.ts';

const kindOf = ({ pk }: StoredItem): string => String(pk).split('#')[0] as string;
const sellerOf = ({ pk }: StoredItem): string => String(pk).split('#')[1] as string;
const ofKind = (items: readonly StoredItem[], kind: string) => items.filter((item) => kindOf(item) === kind);

/** Returns the items that point to a user: the person, the phone link and, if it has one, the external id. */
export const pointersOf = (sellerId: string, user: StoredItem): StoredItem[] => {
  const { id: user_id, sk, phone_hash, external_id } = user;
  const birthDay = String(parseBirthDate(String(user.birth_date))?.isoDay);
  const externalIds = external_id === undefined ? [] : [externalIdKey(sellerId, String(external_id))];
  const keys = [phoneLinkKey(String(phone_hash), sellerId, Number(sk)), ...externalIds];
  return [personItem(sellerId, user, birthDay), ...keys.map((key) => ({ ...key, user_id }))];
};

/** Returns what is wrong among the items of a table: users, the items derived from them, counts, and events. */
export const faultsIn = (items: readonly StoredItem[]): string[] => {
  const byKey = new Map(items.map((item) => [keyText(item), item]));
  const faults: string[] = [];
  const users = ofKind(items, 'USERS');
  for (const user of users) {
    for (const item of pointersOf(sellerOf(user), user)) {
      const pointer = byKey.get(keyText(item));
      if (!isDeepStrictEqual(pointer, item)) faults.push(`${user.id} has ${JSON.stringify(pointer)}`);
    }
  }
  for (const seller of items.filter(({ pk, sk }) => String(pk).startsWith('SELLER#') && sk === 'SELLER')) {
    const own = users.filter((user) => sellerOf(user) === seller.seller_id);
    const events = ofKind(items, 'EVENTS').filter((event) => sellerOf(event) === seller.seller_id);
    const last = new Map<unknown, number>();
    let before = 0;
    for (const { sk, type, user_id } of events) {
      if (Number(sk) !== before + 1) faults.push(`event ${sk} after ${before}`);
      before = Number(sk);
      if (type === 'user.removed') last.delete(user_id);
      else last.set(user_id, Number(sk));
    }
    if (seller.event_count !== before) faults.push(`${seller.event_count} counted after ${before}`);
    if (Number(seller.user_count) - Number(seller.removed_count) !== own.length)
      faults.push(`${seller.user_count} - ${seller.removed_count} is not ${own.length} users`);
    const stored = new Map(own.map((user) => [user.id, user.last_event]));
    if (!isDeepStrictEqual([...stored].sort(), [...last].sort()))
      faults.push(
        `users ${JSON.stringify([...stored].sort())} are not those of the events ${JSON.stringify([...last].sort())}`,
      );
  }
  return faults;
};

/** Returns how the pages of a seller differ from the list of all its users. */
export const faultsOfPages = async (table: Table, sellerId: string): Promise<string[]> => {
  const { listAfter, listPage } = userReads(table);
  const { users, total } = await listAfter(sellerId, 0, 1000);
  const expected = users.map(({ id }) => id);
  const paged: string[] = [];
  for (let page = 1, last = 1; page <= last; page += 1) {
    const read = await listPage(sellerId, page, 2);
    last = read.totalPages;
    paged.push(...read.users.map(({ id }) => id));
  }
  return total === expected.length && isDeepStrictEqual(paged, expected)
    ? []
    : [`pages have ${paged}, the list ${expected}, and the total is ${total}`];
};
