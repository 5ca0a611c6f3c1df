/**
 * The one table: every key it holds, and every way it is read.
 *
 * | access pattern                                  | how                                                             |
 * |-------------------------------------------------|-----------------------------------------------------------------|
 * | a request's key -> who may do what              | GetItem SECRET#<sha256 of the key>                              |
 * | the day a request's key was last used           | UpdateItem SECRET#<sha256 of the key>, once a day               |
 * | a seller, and how many users it has             | GetItem SELLER#<seller> / SELLER                                |
 * | a seller's keys                                 | Query SELLER#<seller>, sk begins with KEY#                      |
 * | all sellers, oldest first                       | Query SELLERS, then BatchGetItem of the sellers                 |
 * | a key id -> its seller                          | GetItem KEYID#<key> / KEYID                                     |
 * | what admins did to a seller or the deployment   | Query AUDIT#<seller or "deployment">, by time                   |
 * | a seller's users n..m, oldest first             | Query USERS#<seller>, sk between two ordinals                   |
 * | has this seller linked this person              | GetItem PERSON#<seller>#<hash> / PERSON                       |
 * | is this phone a registered buyer                | GetItem BUYER#<hash> / BUYER                                  |
 * | a phone's one-time code, tries and sends        | GetItem CODE#<hash> / CODE                                    |
 * | how many requests a key made in a minute        | UpdateItem LIMIT#<subject>#<window> / LIMIT                       |
 *
 * No phone, national id, code or key stands in a key of an item: hashes only, made under a secret held outside the table.
 */

/** The primary key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** Twelve digits: room for 10^12 - 1 users of one seller, and ordinals sort as text. */
const ORDINAL_WIDTH = 12;

export const MAX_ORDINAL = 10 ** ORDINAL_WIDTH - 1;

export const sellerKey = (sellerId: string): ItemKey => ({ pk: `SELLER#${sellerId}`, sk: 'SELLER' });

export const API_KEY_PREFIX = 'KEY#';

export const apiKeyKey = (sellerId: string, keyId: string): ItemKey => ({
  pk: `SELLER#${sellerId}`,
  sk: `${API_KEY_PREFIX}${keyId}`,
});

/** The partition of all sellers. Its items hold nothing but who is there and since when, so they never need an update. */
export const SELLERS_PARTITION = 'SELLERS';

/** Sorts by the time of creation (ISO, UTC); the id stands last, behind its own `#`. */
export const sellerListKey = (createdAt: string, sellerId: string): ItemKey => ({
  pk: SELLERS_PARTITION,
  sk: `${createdAt}#${sellerId}`,
});

/** Where the seller of a key id is found. */
export const keyIdKey = (keyId: string): ItemKey => ({ pk: `KEYID#${keyId}`, sk: 'KEYID' });

/** `subject`: a seller id, or `deployment`. */
export const auditPartition = (subject: string): string => `AUDIT#${subject}`;

/** Sorts by time; `recordId` keeps two records of one millisecond apart. */
export const auditKey = (subject: string, time: string, recordId: string): ItemKey => ({
  pk: auditPartition(subject),
  sk: `${time}#${recordId}`,
});

/** `secretHash` is the SHA-256 of the whole key, in hex. */
export const secretKey = (secretHash: string): ItemKey => ({ pk: `SECRET#${secretHash}`, sk: 'SECRET' });

export const usersPartition = (sellerId: string): string => `USERS#${sellerId}`;

export const ordinalSortKey = (ordinal: number): string => String(ordinal).padStart(ORDINAL_WIDTH, '0');

export const userKey = (sellerId: string, ordinal: number): ItemKey => ({
  pk: usersPartition(sellerId),
  sk: ordinalSortKey(ordinal),
});

export const personKey = (sellerId: string, personHash: string): ItemKey => ({
  pk: `PERSON#${sellerId}#${personHash}`,
  sk: 'PERSON',
});

export const buyerKey = (phoneHash: string): ItemKey => ({ pk: `BUYER#${phoneHash}`, sk: 'BUYER' });

export const codeKey = (phoneHash: string): ItemKey => ({ pk: `CODE#${phoneHash}`, sk: 'CODE' });

/** `window` is the number of the window since the epoch: of the minute for requests, of the hour for the hourly limits. */
export const limitKey = (subject: string, window: number): ItemKey => ({
  pk: `LIMIT#${subject}#${window}`,
  sk: 'LIMIT',
});
