import { currentDeadline } from '#shared/request-context.ts';
import type { Table } from '#shared/table/client.ts';
import {
  endedLinkKey,
  externalIdKey,
  type ItemKey,
  personKey,
  phoneLinkKey,
  sellerKey,
  userKey,
} from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { retryConflicts } from '#shared/table/retry-conflicts.ts';
import { type Action, type StoredItem, type WriteResult, written } from '#shared/table/writes.ts';
import type { LinkHashes } from './read-person.ts';
import type { NewUser, User } from './schema.ts';
import { countsFrom, type SellerCounts, writeUserChange } from './user-change.ts';
import { newRandomPart, userIdAt } from './user-id.ts';
import { type EndedLink, personItem, userFrom } from './user-item.ts';

export interface NewLink extends LinkHashes {
  /** The registration of the buyer. */
  readonly buyer: ItemKey;
  /** Of the request. */
  readonly body: NewUser;
  /** ISO, UTC. */
  readonly linkedAt: string;
  /** An earlier link that the buyer ended, who has signed in at the seller since. */
  readonly lifted?: EndedLink | undefined;
}

/** What has changed since the person was read. */
type LinkOutcome = 'buyer_gone' | 'person_changed' | 'external_id_taken';

const IS_NEW = { ConditionExpression: 'attribute_not_exists(pk)' } as const;

/** The person is new, or holds only the end that is lifted. */
const personCondition = ({ lifted }: NewLink, hash: string) =>
  lifted?.personHash === hash
    ? {
        ConditionExpression: 'ended_at = :lifted',
        ExpressionAttributeValues: { ':lifted': lifted.endedAt },
      }
    : IS_NEW;

/** Writes the person under its current hash. Under an older one it must not be linked, and a lifted end is deleted. */
const personActions = (TableName: string, newLink: NewLink, user: StoredItem): Action<LinkOutcome>[] => {
  const { sellerId, person, body, lifted } = newLink;
  const Item = personItem(sellerId, user, body.birth_date.isoDay);
  const otherwise = 'person_changed';
  return [
    { Put: { TableName, Item, ...personCondition(newLink, person.current) }, otherwise },
    ...person.olderKeys((hash) => {
      const action = { TableName, Key: personKey(sellerId, hash), ...personCondition(newLink, hash) };
      return lifted?.personHash === hash
        ? ({ Delete: action, otherwise } as const)
        : ({ ConditionCheck: action, otherwise } as const);
    }),
  ];
};

const linkActions = (TableName: string, newLink: NewLink, user: StoredItem): Action<LinkOutcome>[] => {
  const { sellerId, phone, buyer, lifted } = newLink;
  const pointer = { user_id: user.id };
  return [
    {
      ConditionCheck: { TableName, Key: buyer, ConditionExpression: 'attribute_exists(pk)' },
      otherwise: 'buyer_gone',
    },
    ...personActions(TableName, newLink, user),
    ...(user.external_id === undefined
      ? []
      : [
          {
            Put: {
              TableName,
              Item: { ...externalIdKey(sellerId, String(user.external_id)), ...pointer },
              ...IS_NEW,
            },
            otherwise: 'external_id_taken',
          } as const,
        ]),
    // Fails only if the seller's counts have changed too.
    { Put: { TableName, Item: user, ...IS_NEW } },
    { Put: { TableName, Item: { ...phoneLinkKey(phone.current, sellerId, Number(user.sk)), ...pointer } } },
    ...(lifted === undefined
      ? []
      : [{ Delete: { TableName, Key: endedLinkKey(lifted.phoneHash, sellerId, lifted.personHash) } }]),
  ];
};

/** Throws if there is no such seller. */
const readCounts = async (table: Table, sellerId: string): Promise<SellerCounts> => {
  const seller = await getItem(table, sellerKey(sellerId), 'user_count, removed_count, event_count');
  if (seller === undefined) throw new Error('the caller has no seller record');
  return countsFrom(seller);
};

/** The item of a user at the next ordinal of its seller. Of the national id, it holds only the last four digits. */
export const userAfter = (
  { users, events }: SellerCounts,
  { sellerId, person, phone, body, linkedAt }: NewLink,
  randomPart: string,
): StoredItem => ({
  ...userKey(sellerId, users + 1),
  id: userIdAt(users + 1, randomPart),
  national_id_last_four: body.national_id.slice(-4),
  birth_date: body.birth_date.text,
  phone: body.phone,
  display_name: body.display_name,
  external_id: body.external_id,
  created_at: linkedAt,
  checked_at: linkedAt,
  last_event: events + 1,
  person_hash: person.current,
  phone_hash: phone.current,
});

/**
 * Links a user under the next ordinal of its seller. Repeats this while other changes of the seller come first. Throws
 * `service_unavailable` at the deadline of the request: nothing was stored.
 */
export const userLinker =
  (table: Table) =>
  (newLink: NewLink): Promise<WriteResult<User, LinkOutcome>> => {
    const { sellerId, linkedAt } = newLink;
    const randomPart = newRandomPart();
    const attempt = async () => {
      const counts = await readCounts(table, sellerId);
      const user = userAfter(counts, newLink, randomPart);
      const event = { type: 'user.linked', userId: String(user.id), occurredAt: linkedAt } as const;
      const actions = linkActions(table.name, newLink, user);
      const change = { sellerId, counts, added: { users: 1 }, event, actions } as const;
      const result = await writeUserChange(table, change);
      return result.written ? written(userFrom(user)) : result;
    };
    return retryConflicts(currentDeadline(), attempt);
  };
