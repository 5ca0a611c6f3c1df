import { setTimeout as pause } from 'node:timers/promises';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import {
  MAX_ORDINAL,
  ordinalSortKey,
  personKey,
  sellerKey,
  userKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { transactWrite } from '#shared/table/writes.ts';

/** A linked user as it is stored: of the national id, nothing but its last four digits. */
export interface User {
  readonly id: string;
  readonly nationalIdLastFour: string;
  readonly birthDate: string;
  readonly phone: string;
  readonly displayName: string;
  readonly createdAt: string;
}

/** The claim of a seller on a person: what makes a link unique and its repetition idempotent. */
export interface Person {
  readonly ordinal: number;
  readonly phoneHash: string;
  /** The day of birth, ISO. */
  readonly birthDay: string;
}

/** A link to be made. `personHashes` and `phoneHash`: see `secrets/hashes.ts`; the first person hash is the current one. */
export interface NewLink {
  readonly sellerId: string;
  readonly personHashes: readonly string[];
  readonly phoneHash: string;
  readonly birthDay: string;
  readonly user: User;
}

/** `linked`: a new user. `claimed`: the seller had linked that person already, and this is the claim. */
export type LinkOutcome = { readonly linked: User } | { readonly claimed: Person };

/** The ordinal of a seller's newest user, and when it was linked. */
interface Newest {
  readonly count: number;
  readonly at: string;
}

const BETWEEN_RACES: Backoff = { baseMs: 4, capMs: 400 };

const toItem = (user: User) => ({
  id: user.id,
  national_id_last_four: user.nationalIdLastFour,
  birth_date: user.birthDate,
  phone: user.phone,
  display_name: user.displayName,
  created_at: user.createdAt,
});

const fromItem = (item: Record<string, unknown>): User => ({
  id: String(item.id),
  nationalIdLastFour: String(item.national_id_last_four),
  birthDate: String(item.birth_date),
  phone: String(item.phone),
  displayName: String(item.display_name),
  createdAt: String(item.created_at),
});

const personFromItem = (item: Record<string, unknown>): Person => ({
  ordinal: Number(item.ordinal),
  phoneHash: String(item.phone_hash),
  birthDay: String(item.birth_day),
});

export const userStore = ({ client, name: TableName }: Table) => {
  const readNewest = async (sellerId: string): Promise<Newest | undefined> => {
    const { Item } = await client.send(
      new GetCommand({
        TableName,
        Key: sellerKey(sellerId),
        ProjectionExpression: 'user_count, newest_user_at',
        ConsistentRead: true,
      }),
    );
    return Item && { count: Number(Item.user_count), at: String(Item.newest_user_at ?? '') };
  };

  /** How many users the seller has; undefined if there is no such seller. */
  const countUsers = async (sellerId: string): Promise<number | undefined> =>
    (await readNewest(sellerId))?.count;

  /** One GetItem a hash, not one BatchGetItem: a batch that is throttled leaves items out without an error. */
  const findPerson = async (
    sellerId: string,
    personHashes: readonly string[],
  ): Promise<Person | undefined> => {
    const found = await Promise.all(
      personHashes.map((hash) =>
        client.send(new GetCommand({ TableName, Key: personKey(sellerId, hash), ConsistentRead: true })),
      ),
    );
    const item = found.find(({ Item }) => Item !== undefined)?.Item;
    return item && personFromItem(item);
  };

  const queryUsers = async (sellerId: string, first: number, last: number): Promise<User[]> => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': usersPartition(sellerId),
          ':first': ordinalSortKey(first),
          ':last': ordinalSortKey(last),
        },
        ConsistentRead: true,
      }),
    );
    return Items.map(fromItem);
  };

  /**
   * One transaction: the count goes from n to n+1, the user stands at n+1, the person is claimed. All of it or nothing; and not
   * with a time before that of the newest user, so that the order of the pages is the order of the times.
   */
  const tryLink = (link: NewLink, count: number) => {
    const [currentHash, ...olderHashes] = link.personHashes as [string, ...string[]];
    const ordinal = count + 1;
    return transactWrite({ client }, [
      {
        Update: {
          TableName,
          Key: sellerKey(link.sellerId),
          UpdateExpression: 'SET user_count = :next, newest_user_at = :at',
          ConditionExpression:
            'user_count = :count AND (attribute_not_exists(newest_user_at) OR newest_user_at <= :at)',
          ExpressionAttributeValues: { ':count': count, ':next': ordinal, ':at': link.user.createdAt },
        },
      },
      {
        Put: {
          TableName,
          Item: {
            ...personKey(link.sellerId, currentHash),
            ordinal,
            phone_hash: link.phoneHash,
            birth_day: link.birthDay,
          },
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      {
        Put: {
          TableName,
          Item: { ...userKey(link.sellerId, ordinal), ...toItem(link.user) },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      // While the hash secret is being rotated, the person may stand under the hash of an older one.
      ...olderHashes.map((hash) => ({
        ConditionCheck: {
          TableName,
          Key: personKey(link.sellerId, hash),
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        },
      })),
    ]);
  };

  return {
    countUsers,
    findPerson,

    /** The user at an ordinal. Throws if there is none: a claim always has its user. */
    async getUser(sellerId: string, ordinal: number): Promise<User> {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: userKey(sellerId, ordinal), ConsistentRead: true }),
      );
      if (Item === undefined) throw new Error('a claimed person has no user');
      return fromItem(Item);
    },

    /**
     * Links a user under the next ordinal of its seller. Others that link at the same moment raise the count first: then again,
     * from the count as it is then, with full jitter, until `deadlineMs` (epoch). The SDK does not retry a cancelled transaction.
     * The user that was linked is no older than the one before it, whatever the clocks of two machines say.
     */
    async link(newLink: NewLink, seenCount: number, deadlineMs: number): Promise<LinkOutcome> {
      let link = newLink;
      let count = seenCount;
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await tryLink(link, count);
        if (outcome.written) return { linked: link.user };
        {
          const [, person, , ...olderPersons] = outcome.reason;
          const claim = [person, ...olderPersons].find((reason) => reason?.code === 'ConditionalCheckFailed');
          if (claim?.item) return { claimed: personFromItem(claim.item) };
          const wait = fullJitterMs(BETWEEN_RACES, attempt);
          if (Date.now() + wait > deadlineMs) throw new Error('no free ordinal before the deadline');
          await pause(wait);
          // Read after the wait, not taken from the failure: by now others have raised the count again.
          const newest = await readNewest(link.sellerId);
          if (newest === undefined) continue;
          count = newest.count;
          if (newest.at > link.user.createdAt)
            link = { ...link, user: { ...link.user, createdAt: newest.at } };
        }
      }
    },

    /**
     * One page of a seller's users and how many there are, in one round trip: a range of ordinals costs the same at any depth.
     * Pages are counted from 1.
     */
    async listPage(
      sellerId: string,
      page: number,
      pageSize: number,
    ): Promise<{ users: User[]; total: number }> {
      const first = (page - 1) * pageSize + 1;
      if (first > MAX_ORDINAL) return { users: [], total: (await countUsers(sellerId)) ?? 0 };
      const last = Math.min(first + pageSize - 1, MAX_ORDINAL);
      const [total = 0, early] = await Promise.all([countUsers(sellerId), queryUsers(sellerId, first, last)]);
      const expected = Math.max(0, Math.min(last, total) - first + 1);
      // The two reads are not one snapshot: a link made between them is in the count but not yet in the page, or the reverse.
      const users = early.length < expected ? await queryUsers(sellerId, first, last) : early;
      return { users: users.slice(0, expected), total };
    },
  };
};

export type UserStore = ReturnType<typeof userStore>;
