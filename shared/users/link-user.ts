import type { Limit } from '#shared/rate-limits/plans.ts';
import { limitKey, stateIn } from '#shared/rate-limits/rate-limiter.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import {
  buyerKey,
  externalIdKey,
  type ItemKey,
  personCheckKey,
  personKey,
  phoneLinkKey,
  refusalKey,
  sellerKey,
  userKey,
} from '#shared/table/keys.ts';
import { batchGet, getItem, itemOf } from '#shared/table/reads.ts';
import { isConditionFailure, type StoredItem, type TransactItem } from '#shared/table/writes.ts';
import { checkRecordFrom } from './person-check.ts';
import type { User } from './schema.ts';
import {
  changeUsers,
  countsFrom,
  Overtaken,
  type SellerCounts,
  sequenceAfter,
  writeUserChange,
} from './user-change.ts';
import { newRandomPart, ordinalOf, userIdAt } from './user-id.ts';
import {
  type NewUserAttributes,
  personFrom,
  personItem,
  type RefusedPerson,
  refusedPersonFrom,
  userFrom,
} from './user-item.ts';

/** A seller, and a person and a phone by their keyed hashes. */
export interface LinkHashes {
  readonly sellerId: string;
  readonly person: KeyedHash;
  readonly phone: KeyedHash;
}

export interface LinkLookup extends LinkHashes {
  readonly externalId?: string | undefined;
  readonly userId?: string | undefined;
  /** Limits of which none may be used up, and the time at which. */
  readonly limits: readonly Limit[];
  readonly nowMs: number;
}

export interface NewLink extends LinkHashes {
  /** The registration of the buyer. */
  readonly buyer: ItemKey;
  /** The day of birth as an ISO date. */
  readonly birthDay: string;
  readonly user: NewUserAttributes;
  /** A refusal of the buyer that a later sign-in has lifted. */
  readonly lifted?: RefusedPerson | undefined;
}

const IS_NEW = 'attribute_not_exists(pk)';

/**
 * The first item requires that the buyer is registered; the person items (under each hash of a rotation) follow, then the external id.
 * Only person items and the external id return what they hold.
 */
const userItems = (TableName: string, newLink: NewLink, user: StoredItem): TransactItem[] => {
  const { sellerId, person, phone, birthDay, lifted } = newLink;
  const pointer = { user_id: user.id };
  const ifNew = {
    TableName,
    ConditionExpression: IS_NEW,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;
  /** New, or the refusal that is lifted. */
  const personAt = (hash: string) =>
    lifted?.personHash !== hash
      ? ifNew
      : {
          ...ifNew,
          ConditionExpression: 'refused_at = :lifted',
          ExpressionAttributeValues: { ':lifted': lifted?.refusedAt },
        };
  return [
    {
      ConditionCheck: {
        TableName,
        Key: newLink.buyer,
        ConditionExpression: 'attribute_exists(pk)',
      },
    },
    { Put: { ...personAt(person.current), Item: personItem(sellerId, user, birthDay) } },
    ...person.olderKeys((hash) => {
      const condition = { ...personAt(hash), Key: personKey(sellerId, hash) };
      return lifted?.personHash === hash ? { Delete: condition } : { ConditionCheck: condition };
    }),
    ...(user.external_id === undefined
      ? []
      : [{ Put: { ...ifNew, Item: { ...externalIdKey(sellerId, String(user.external_id)), ...pointer } } }]),
    { Put: { TableName, Item: user, ConditionExpression: IS_NEW } },
    { Put: { TableName, Item: { ...phoneLinkKey(phone.current, sellerId, Number(user.sk)), ...pointer } } },
    ...(lifted === undefined
      ? []
      : [{ Delete: { TableName, Key: refusalKey(lifted.phoneHash, sellerId, lifted.personHash) } }]),
  ];
};

/** Throws if there is no such seller. */
const readCounts = async (table: Table, sellerId: string): Promise<SellerCounts> => {
  const seller = await getItem(table, sellerKey(sellerId), 'user_count, removed_count, event_count');
  if (seller === undefined) throw new Error('the caller has no seller record');
  return countsFrom(seller);
};

/** Reads in one call what decides on a link or a check. `person`: the seller has linked it. `refused`: its buyer refuses links. */
export const personReader =
  (table: Table) =>
  async ({ sellerId, person, phone, externalId, userId, limits, nowMs }: LinkLookup) => {
    const personKeys = person.keys((hash) => personKey(sellerId, hash));
    const buyerKeys = phone.keys(buyerKey);
    const checkKey = personCheckKey(sellerId, person.current);
    const externalKeys = externalId === undefined ? [] : [externalIdKey(sellerId, externalId)];
    const userKeys = userId === undefined ? [] : [userKey(sellerId, ordinalOf(userId) ?? 0)];
    const limitKeys = limits.map((limit) => limitKey(limit, nowMs));
    const one = [checkKey, ...externalKeys, ...userKeys];
    const items = await batchGet(table, [...personKeys, ...buyerKeys, ...one, ...limitKeys]);
    const persons = personKeys.map((key) => itemOf(items, key));
    const linked = persons.find((item) => item?.user_id !== undefined);
    const refused = persons.find((item) => item?.refused_at !== undefined);
    return {
      person: linked && personFrom(linked),
      refused: refused && refusedPersonFrom(refused),
      buyer: buyerKeys.find((key) => itemOf(items, key) !== undefined),
      isExternalIdTaken: externalKeys.some((key) => itemOf(items, key) !== undefined),
      user: userKeys.map((key) => itemOf(items, key)).find((item) => item?.id === userId),
      record: checkRecordFrom(itemOf(items, checkKey)),
      limitStates: limits.map((limit) => stateIn(itemOf(items, limitKey(limit, nowMs)), limit, nowMs)),
    };
  };

/**
 * Links a user under the next ordinal of its seller, and writes `alsoWrite` (without conditions) in the same transaction. Retries until
 * `deadlineMs` (monotonic clock), then throws `service_unavailable`: nothing was stored. `outdated`: the person or the external id is
 * linked by now, the buyer is no longer registered, or the refusal was lifted.
 */
export const userLinker =
  (table: Table) =>
  (
    newLink: NewLink,
    deadlineMs: number,
    alsoWrite: readonly TransactItem[] = [],
  ): Promise<User | 'outdated'> => {
    const { sellerId, person, phone } = newLink;
    const randomPart = newRandomPart();

    const read = async () => ({ counts: await readCounts(table, sellerId) });
    return changeUsers(deadlineMs, read, async ({ counts }) => {
      const ordinal = counts.users + 1;
      const id = userIdAt(ordinal, randomPart);
      const { created_at } = newLink.user;
      const user = {
        ...userKey(sellerId, ordinal),
        ...newLink.user,
        id,
        checked_at: created_at,
        last_event: sequenceAfter(counts),
        person_hash: person.current,
        phone_hash: phone.current,
      };
      const event = { type: 'user.linked', userId: id, occurredAt: created_at } as const;
      const items = [...userItems(table.name, newLink, user), ...alsoWrite];
      const change = { sellerId, counts, added: { users: 1 }, event, items } as const;
      const result = await writeUserChange(table, change);
      if (result.written) return userFrom(user);
      const [buyer, ...others] = result.reason.reasons;
      const isBuyerGone = buyer !== undefined && isConditionFailure(buyer);
      const isTaken = others.some(({ item }) => item !== undefined);
      // Somebody else lifted or erased the refusal: no item is left that could be returned.
      const isLifted = newLink.lifted !== undefined && others.some(isConditionFailure);
      return isBuyerGone || isTaken || isLifted ? 'outdated' : new Overtaken(result.reason.counts);
    });
  };
