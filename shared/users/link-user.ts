import type { Table } from '#shared/table/client.ts';
import { personKey, phoneLinkKey, sellerKey, userKey } from '#shared/table/keys.ts';
import { batchGet, getItem } from '#shared/table/reads.ts';
import {
  isConditionFailure,
  notWritten,
  type TransactItem,
  transactWrite,
  type WriteResult,
  written,
} from '#shared/table/writes.ts';
import { hasRandomPart, newRandomPart, userIdAt } from './user-id.ts';
import { type Person, personFromItem, type User, userAttributes } from './user-item.ts';
import { requireRetryable, retryUntil } from './user-transaction.ts';

/** A link to make. `personHashes` and `phoneHash`: see `secrets/keyed-hashes.ts`; the first person hash is the current one. */
export interface NewLink {
  readonly sellerId: string;
  readonly personHashes: readonly [string, ...string[]];
  readonly phoneHash: string;
  /** The day of birth as an ISO date. */
  readonly birthDay: string;
  readonly user: Omit<User, 'id'>;
}

/** The value is the new user. The reason is the person whom the seller had linked before. */
export type LinkResult = WriteResult<User, Person>;

/** A condition that holds while the seller exists and has `:count` users. A seller without the attribute has none. */
const countIs = (count: number): string =>
  count === 0
    ? 'attribute_exists(pk) AND (attribute_not_exists(user_count) OR user_count = :count)'
    : 'user_count = :count';

/** The positions of three of the items below. */
const [SELLER, PERSON, USER] = [0, 1, 2];

/** `user_count` goes from n to n+1, and the user is stored at ordinal n+1 with its person item and its phone link. */
const linkItems = (
  TableName: string,
  { sellerId, personHashes: [personHash], phoneHash, birthDay, user }: NewLink & { readonly user: User },
  ordinal: number,
): TransactItem[] => [
  {
    Update: {
      TableName,
      Key: sellerKey(sellerId),
      UpdateExpression: 'SET user_count = :ordinal',
      ConditionExpression: countIs(ordinal - 1),
      ExpressionAttributeValues: { ':count': ordinal - 1, ':ordinal': ordinal },
    },
  },
  {
    Put: {
      TableName,
      Item: {
        ...personKey(sellerId, personHash),
        ordinal,
        user_id: user.id,
        phone_hash: phoneHash,
        birth_day: birthDay,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  },
  {
    Put: {
      TableName,
      Item: {
        ...userKey(sellerId, ordinal),
        ...userAttributes(user),
        person_hash: personHash,
        phone_hash: phoneHash,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  },
  {
    Put: {
      TableName,
      Item: { ...phoneLinkKey(phoneHash, sellerId, ordinal), ...userAttributes(user) },
    },
  },
];

/** During a rotation of the hash secret the person may be stored under an older hash. */
const olderPersonChecks = (TableName: string, { sellerId, personHashes }: NewLink): TransactItem[] =>
  personHashes.slice(1).map((hash) => ({
    ConditionCheck: {
      TableName,
      Key: personKey(sellerId, hash),
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  }));

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
  const [item] = await batchGet(
    table,
    personHashes.map((hash) => personKey(sellerId, hash)),
  );
  return item && personFromItem(item);
};

/** A link in progress. The random part of the user's id is the same in all of its attempts. */
interface Linking {
  readonly newLink: NewLink;
  readonly randomPart: string;
  readonly alsoWrite: readonly TransactItem[];
}

/** Returns the result for a seller that has `person` already. This link may have stored it itself, if its response was lost. */
const resultFor = (person: Person, { newLink, randomPart }: Linking): LinkResult =>
  hasRandomPart(person.userId, randomPart)
    ? written({ ...newLink.user, id: person.userId })
    : notWritten(person);

/** Returns normally if the link is stored, else throws `error`. A response can be lost after the write happened. */
const requireStored = async (table: Table, linking: Linking, error: unknown) => {
  const { sellerId, personHashes } = linking.newLink;
  const person = await findPerson(table, sellerId, personHashes).catch(() => undefined);
  if (person && hasRandomPart(person.userId, linking.randomPart)) return written(undefined);
  throw error;
};

/** One attempt, at the ordinal that is free now. Undefined if another link took the ordinal or the transaction met a conflict. */
const tryLink = async (table: Table, linking: Linking): Promise<LinkResult | undefined> => {
  const { newLink, randomPart, alsoWrite } = linking;
  const ordinal = (await readUserCount(table, newLink.sellerId)) + 1;
  const user: User = { ...newLink.user, id: userIdAt(ordinal, randomPart) };
  const olderChecks = olderPersonChecks(table.name, newLink);
  const items = [...linkItems(table.name, { ...newLink, user }, ordinal), ...olderChecks];
  const result = await transactWrite(table, [...items, ...alsoWrite]).catch((error) =>
    requireStored(table, linking, error),
  );
  if (result.written) return written(user);
  const olderPersons = result.reason.slice(items.length - olderChecks.length, items.length);
  const met = [result.reason[PERSON], ...olderPersons].find(
    (reason) => reason && isConditionFailure(reason),
  )?.item;
  if (met) return resultFor(personFromItem(met), linking);
  requireRetryable(result.reason, { ownItems: items.length, contended: [SELLER, USER] });
  return undefined;
};

/** Links users to sellers. */
export const userLinks = (table: Table) => ({
  /** Returns the person whom the seller has linked, under whichever of the hashes it is stored. */
  findPerson: (sellerId: string, personHashes: readonly string[]) =>
    findPerson(table, sellerId, personHashes),

  /**
   * Links a user under the next ordinal of its seller, and writes `alsoWrite` in the same transaction. Other links of the seller
   * may take that ordinal first: then it reads the count again and retries, with full jitter, until `deadlineMs` (monotonic clock).
   * Throws `service_unavailable` if no ordinal was free before the deadline, or if a condition of `alsoWrite` failed: nothing was
   * stored then.
   */
  link(newLink: NewLink, deadlineMs: number, alsoWrite: readonly TransactItem[] = []): Promise<LinkResult> {
    const linking: Linking = { newLink, randomPart: newRandomPart(), alsoWrite };
    return retryUntil(deadlineMs, () => tryLink(table, linking));
  },
});

export type UserLinks = ReturnType<typeof userLinks>;
