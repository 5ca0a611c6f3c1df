import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import {
  buyerKey,
  type ItemKey,
  personCheckKey,
  personKey,
  phoneLinkKey,
  sellerKey,
  userKey,
} from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  type TransactItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import { checkRecordFrom } from './person-check.ts';
import type { User } from './schema.ts';
import { hasRandomPart, newRandomPart, userIdAt } from './user-id.ts';
import { type NewUserAttributes, type Person, personFrom, userFrom } from './user-item.ts';

/** A person, a phone and a seller, by their keyed hashes: under the current key first, then under each older one. */
export interface LinkHashes {
  readonly sellerId: string;
  readonly personHashes: readonly [string, ...string[]];
  readonly phoneHashes: readonly [string, ...string[]];
}

/** A link to make. */
export interface NewLink extends LinkHashes {
  /** The one of the phone hashes under which the buyer is registered. */
  readonly buyerHash: string;
  /** The day of birth as an ISO date. */
  readonly birthDay: string;
  readonly user: NewUserAttributes;
}

/** The value is the new user. The reason is the person whom the seller had linked before; undefined: no such buyer is registered now. */
export type LinkResult = WriteResult<User, Person | undefined>;

const personKeysOf = (sellerId: string, personHashes: readonly string[]): ItemKey[] =>
  personHashes.map((hash) => personKey(sellerId, hash));

/** A condition that holds while the seller exists and has `:count` users. A seller without the attribute has none. */
const countIs = (count: number): string =>
  count === 0
    ? 'attribute_exists(pk) AND (attribute_not_exists(user_count) OR user_count = :count)'
    : 'user_count = :count';

const IS_NEW = 'attribute_not_exists(pk)';

/**
 * `user_count` goes from n to n+1, and the user is stored at ordinal n+1 with its person item and its phone link. During a rotation of
 * the hash secret the person may be stored under an older hash. Only person items return what they hold. The first item requires that the
 * buyer is registered.
 */
const linkItems = (
  TableName: string,
  newLink: NewLink,
  user: NewUserAttributes & { readonly id: string },
  ordinal: number,
): TransactItem[] => {
  const { sellerId, personHashes, birthDay } = newLink;
  const [person_hash] = personHashes;
  const [phone_hash] = newLink.phoneHashes;
  const [current, ...older] = personKeysOf(sellerId, personHashes);
  const person = { ...current, ordinal, user_id: user.id, phone_hash, birth_day: birthDay };
  const ifNewPerson = {
    TableName,
    ConditionExpression: IS_NEW,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
  return [
    {
      ConditionCheck: {
        TableName,
        Key: buyerKey(newLink.buyerHash),
        ConditionExpression: 'attribute_exists(pk)',
      },
    },
    {
      Update: {
        TableName,
        Key: sellerKey(sellerId),
        UpdateExpression: 'SET user_count = :ordinal',
        ConditionExpression: countIs(ordinal - 1),
        ExpressionAttributeValues: { ':count': ordinal - 1, ':ordinal': ordinal },
      },
    },
    { Put: { ...ifNewPerson, Item: person } },
    ...older.map((Key) => ({ ConditionCheck: { ...ifNewPerson, Key } })),
    {
      Put: {
        TableName,
        Item: { ...userKey(sellerId, ordinal), ...user, person_hash, phone_hash },
        ConditionExpression: IS_NEW,
      },
    },
    { Put: { TableName, Item: { ...phoneLinkKey(phone_hash, sellerId, ordinal), ...user } } },
  ];
};

/** Throws if there is no such seller. */
const readUserCount = async (table: Table, sellerId: string): Promise<number> => {
  const seller = await getItem(table, sellerKey(sellerId), 'pk, user_count');
  if (seller === undefined) throw new Error('the caller has no seller record');
  return Number(seller.user_count ?? 0);
};

const findPerson = async (
  table: Table,
  sellerId: string,
  personHashes: readonly string[],
): Promise<Person | undefined> => {
  const [item] = await batchGet(table, personKeysOf(sellerId, personHashes));
  return item && personFrom(item);
};

/** Links users to sellers. */
export const userLinks = (table: Table) => ({
  /**
   * Reads in one call what decides on a link: the person if the seller has linked it, the phone hash under which the buyer is
   * registered, and the record of the person's checks.
   */
  async lookUp({ sellerId, personHashes, phoneHashes }: LinkHashes) {
    const personKeys = personKeysOf(sellerId, personHashes);
    const checkKey = personCheckKey(sellerId, personHashes[0]);
    const items = await batchGet(table, [...personKeys, ...phoneHashes.map(buyerKey), checkKey]);
    const person = personKeys.map((key) => itemOf(items, key)).find((item) => item !== undefined);
    return {
      person: person && personFrom(person),
      buyerHash: phoneHashes.find((hash) => itemOf(items, buyerKey(hash)) !== undefined),
      record: checkRecordFrom(itemOf(items, checkKey)),
    };
  },

  /**
   * Links a user under the next ordinal of its seller, and writes `alsoWrite` (without conditions) in the same transaction. Other links
   * of the seller may take that ordinal first: then it reads the count again and retries, with full jitter, until `deadlineMs`
   * (monotonic clock). Throws `service_unavailable` if no ordinal was free before the deadline: nothing was stored then.
   */
  link(newLink: NewLink, deadlineMs: number, alsoWrite: readonly TransactItem[] = []): Promise<LinkResult> {
    const { sellerId, personHashes } = newLink;
    const randomPart = newRandomPart();
    // A response can be lost after the write happened: the person then has the random part of this link.
    const isOwn = (person: Person | undefined) =>
      person !== undefined && hasRandomPart(person.userId, randomPart);

    return retryUntil<LinkResult>(deadlineMs, async () => {
      const ordinal = (await readUserCount(table, sellerId)) + 1;
      const user = { id: userIdAt(ordinal, randomPart), ...newLink.user };
      const items = [...linkItems(table.name, newLink, user, ordinal), ...alsoWrite];
      const result = await transactWrite(table, items).catch(async (error: unknown) => {
        const stored = await findPerson(table, sellerId, personHashes).catch(() => undefined);
        if (isOwn(stored)) return written(undefined);
        throw error;
      });
      if (result.written) return written(userFrom(user));
      const item = result.reason.find((reason) => reason.item !== undefined)?.item;
      const person = item && personFrom(item);
      if (person !== undefined && isOwn(person)) return written(userFrom({ ...user, id: person.userId }));
      const [buyer] = result.reason;
      const isBuyerGone = buyer !== undefined && isConditionFailure(buyer);
      // Without either reason, another link took the ordinal or the transaction met a conflict.
      return person !== undefined || isBuyerGone ? notWritten(person) : undefined;
    });
  },
});

export type UserLinks = ReturnType<typeof userLinks>;
