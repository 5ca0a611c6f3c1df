/**
 * The one table: every key it holds, and every way it is read. docs/contributors/table.md lists the attributes of each item.
 *
 * | access pattern                                  | how                                                             |
 * |-------------------------------------------------|-----------------------------------------------------------------|
 * | what a request's key may do                     | GetItem SECRET#<sha256 of the key>                              |
 * | a seller, and how many users it has             | GetItem SELLER#<seller> / SELLER                                |
 * | a seller's own templates of messages            | BatchGetItem SELLER#<seller> / SELLER                           |
 * | a seller's keys                                 | Query SELLER#<seller>, sk begins with KEY#                      |
 * | all sellers, oldest first                       | Query SELLERS, then BatchGetItem of the sellers                 |
 * | the seller of a key id                          | GetItem KEYID#<key> / KEYID                                     |
 * | audit records of a seller or the deployment     | Query AUDIT#<seller or "deployment">, by time                   |
 * | audit records of all sellers since a time       | Query SELLERS, then AUDIT#… of each, by time                    |
 * | a seller's users from ordinal n, oldest first   | Query USERS#<seller>, sk from the ordinal, with a limit         |
 * | one user of a seller, by id                     | GetItem USERS#<seller> / ordinal (the id holds the ordinal)     |
 * | a seller's user by external id                  | GetItem EXTERNAL#<seller>#<external id>, then the user          |
 * | whether an id is that of a removed user         | BatchGetItem REMOVED#<seller> / ordinal                         |
 * | how many users were removed, by block           | BatchGetItem REMOVALS#<seller> / SUMMARY                        |
 * | which users of a block were removed             | GetItem REMOVALS#<seller> / block                               |
 * | a seller's events from number n, oldest first   | Query EVENTS#<seller>, sk from the number, with a limit         |
 * | the link of a seller with a person              | GetItem PERSON#<seller>#<person hash> / PERSON                  |
 * | a seller's users by phone                       | Query LINKS#<phone hash>, <seller>#…, then BatchGetItem         |
 * | all users with a phone, over all sellers        | Query LINKS#<phone hash>                                        |
 * | what the buyer of a phone can see and end       | Query LINKS#<phone hash>: links and ended ones                  |
 * | whether a phone is a registered buyer           | GetItem BUYER#<phone hash> / BUYER                              |
 * | a phone's code, tries and sends for a seller    | GetItem CODE#<phone hash> / <seller>                            |
 * | a limit's count in a window                     | UpdateItem LIMIT#<subject> / HOUR#<window> or DAY#<window>      |
 * | the counts of a key in a range of hours or days | Query LIMIT#<key>, sk between two windows                       |
 * | the latest hour in which a key was used         | Query LIMIT#<key>, HOUR#…, newest first, one item               |
 *
 * No phone, national id, code or API key is part of an item's key: only keyed hashes, made with a key held outside the table.
 */

/** How the partition keys of each kind of item begin. A function is granted actions per prefix. */
export const ITEM_PREFIXES = [
  'SELLER#',
  'SECRET#',
  'AUDIT#',
  'USERS#',
  'REMOVED#',
  'REMOVALS#',
  'EXTERNAL#',
  'EVENTS#',
  'PERSON#',
  'LINKS#',
  'BUYER#',
  'CODE#',
  'LIMIT#',
] as const;

export type ItemPrefix = (typeof ITEM_PREFIXES)[number];

/**
 * What a change of users may name in the item of its seller. The API keys are in the same partition: without this list, whoever may count users
 * could also change the scopes of a key.
 */
export const COUNTS_OF_SELLER = ['pk', 'sk', 'user_count', 'removed_count', 'event_count'] as const;

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

const key = (pk: string, sk: string): ItemKey => ({ pk, sk });

/** Twelve digits: room for 10^12 - 1 users or events of one seller, and their numbers sort as text. */
const NUMBER_WIDTH = 12;

/** The largest ordinal of a user, and the largest number of an event. */
export const MAX_ORDINAL = 10 ** NUMBER_WIDTH - 1;

export const sellerKey = (sellerId: string): ItemKey => key(`SELLER#${sellerId}`, 'SELLER');

export const API_KEY_PREFIX = 'KEY#';

export const apiKeyKey = (sellerId: string, keyId: string): ItemKey =>
  key(`SELLER#${sellerId}`, `${API_KEY_PREFIX}${keyId}`);

/** The partition that lists all sellers. Its items hold the id and the time of creation only, so they never change. */
export const SELLERS_PARTITION = 'SELLERS';

/** Sorts by the time of creation (ISO, UTC), then by id. */
export const sellerListKey = (createdAt: string, sellerId: string): ItemKey =>
  key(SELLERS_PARTITION, `${createdAt}#${sellerId}`);

export const keyIdKey = (keyId: string): ItemKey => key(`KEYID#${keyId}`, 'KEYID');

/** `subject`: a seller id, or `deployment`. */
export const auditPartition = (subject: string): string => `AUDIT#${subject}`;

/** Sorts by time; `recordId` keeps two records of one millisecond apart. */
export const auditKey = (subject: string, time: string, recordId: string): ItemKey =>
  key(auditPartition(subject), `${time}#${recordId}`);

/** `secretHash` is the SHA-256 of the whole key, in hex. */
export const keySecretKey = (secretHash: string): ItemKey => key(`SECRET#${secretHash}`, 'SECRET');

export const usersPartition = (sellerId: string): string => `USERS#${sellerId}`;

/** Returns the number of a user, a block or an event with leading zeros, so that it sorts as text. */
export const numberSortKey = (number: number): string => String(number).padStart(NUMBER_WIDTH, '0');

export const userKey = (sellerId: string, ordinal: number): ItemKey =>
  key(usersPartition(sellerId), numberSortKey(ordinal));

/** What remains of a removed user. It is not in the partition of the users, so that a page of users is one Query with a limit. */
export const tombstoneKey = (sellerId: string, ordinal: number): ItemKey =>
  key(`REMOVED#${sellerId}`, numberSortKey(ordinal));

/** Which ordinals of a block were removed. Blocks are counted from 0. */
export const removalBlockKey = (sellerId: string, block: number): ItemKey =>
  key(`REMOVALS#${sellerId}`, numberSortKey(block));

export const removalSummaryKey = (sellerId: string): ItemKey => key(`REMOVALS#${sellerId}`, 'SUMMARY');

/** The user with an external id: the seller's own reference, which is no personal datum. */
export const externalIdKey = (sellerId: string, externalId: string): ItemKey =>
  key(`EXTERNAL#${sellerId}#${externalId}`, 'EXTERNAL');

export const eventsPartition = (sellerId: string): string => `EVENTS#${sellerId}`;

export const eventKey = (sellerId: string, sequence: number): ItemKey =>
  key(eventsPartition(sellerId), numberSortKey(sequence));

export const personKey = (sellerId: string, personHash: string): ItemKey =>
  key(`PERSON#${sellerId}#${personHash}`, 'PERSON');

export const phoneLinksPartition = (phoneHash: string): string => `LINKS#${phoneHash}`;

export const phoneLinkPrefix = (sellerId: string): string => `${sellerId}#`;

export const phoneLinkKey = (phoneHash: string, sellerId: string, ordinal: number): ItemKey =>
  key(phoneLinksPartition(phoneHash), `${phoneLinkPrefix(sellerId)}${numberSortKey(ordinal)}`);

/** The seller of a phone link, by its sort key. */
export const sellerOfPhoneLink = (sortKey: unknown): string =>
  String(sortKey).slice(0, String(sortKey).lastIndexOf('#'));

/** The prefix of the sort keys of ended links. No phone link begins with it: a seller id begins in lower case. */
export const ENDED_LINK_PREFIX = 'ENDED#';

export const endedLinkKey = (phoneHash: string, sellerId: string, personHash: string): ItemKey =>
  key(phoneLinksPartition(phoneHash), `${ENDED_LINK_PREFIX}${sellerId}#${personHash}`);

export const buyerKey = (phoneHash: string): ItemKey => key(`BUYER#${phoneHash}`, 'BUYER');

export const codesPartition = (phoneHash: string): string => `CODE#${phoneHash}`;

/** `audience`: the seller whose key sent the code, or "public" where no key is taken. */
export const codeKey = (phoneHash: string, audience: string): ItemKey =>
  key(codesPartition(phoneHash), audience);

export const limitsPartition = (subject: string): string => `LIMIT#${subject}`;

/** `window` is the number of the hour or the day (UTC) since the epoch. Both sort as text: of hours until 2084, of days until 2243. */
export const limitSortKey = (unit: 'HOUR' | 'DAY', window: number): string => `${unit}#${window}`;
