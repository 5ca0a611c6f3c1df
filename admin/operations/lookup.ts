import { AdminError, type AdminErrorCode } from '#admin/admin-error.ts';
import { type Administration, requireKey, requireSeller } from '#admin/administration.ts';
import { inTurns } from '#admin/stores/batches.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { normalized, similarNames } from './similar-names.ts';

const SELLER_ID = /^sel_[0-9A-Za-z]+$/;
const KEY_ID = /^key_[0-9A-Za-z]+$/;
/** `Kd3I`, also as tables and key lists show it: `…Kd3I`, `blk_live_…Kd3I`. */
const ENDING = /^(?:(?:blk_[a-z]+_)?…)?([0-9A-Za-z]{4})$/;

/** Reads of keys at the same time. */
const AT_ONCE = 10;

/** Returns the rule of every `--search`: whether one of several texts contains this one, in any case. */
export const containing = (text = '') => {
  const wanted = normalized(text);
  return (...texts: readonly string[]): boolean => texts.some((one) => normalized(one).includes(wanted));
};

/** Returns the sellers whose name or id contains a text, oldest first. */
export const searchSellers = async (admin: Administration, text: string | undefined): Promise<Seller[]> => {
  const isWanted = containing(text);
  return (await admin.sellers.list()).filter(({ name, seller_id }) => isWanted(name, seller_id));
};

const isNamed = (one: { readonly name: string }, name: string): boolean =>
  normalized(one.name) === normalized(name);

/** Returns the sellers of this name, in any case, without `except`. */
export const sellersOfName = async (
  admin: Administration,
  name: string,
  except?: string,
): Promise<Seller[]> =>
  (await admin.sellers.list()).filter((seller) => seller.seller_id !== except && isNamed(seller, name));

const listed = (lines: readonly string[]): string => lines.map((line) => `\n  ${line}`).join('');

/** Returns the only one that was found. Throws `missing` if there is none, and `ambiguous` with a line about each if there are several. */
const onlyOne = <T>(
  found: readonly T[],
  missing: () => AdminError,
  { several, lineOf }: { readonly several: string; readonly lineOf: (one: T) => string },
): T => {
  const [first, ...others] = found;
  if (first === undefined) throw missing();
  if (others.length === 0) return first;
  throw new AdminError('ambiguous', `${several} Use an id:${listed(found.map(lineOf))}`);
};

const sellerLine = ({ seller_id, name }: Seller): string => `${seller_id}  ${name}`;

const keyLine = (key: ApiKey): string =>
  `${key.key_id}  …${key.secrets[0]?.last_four}  ${key.name}, ${key.status}, of ${key.seller_id}`;

/** A question about the sellers of similar names, if there are any. */
const hintFor = (typed: string, sellers: readonly Seller[]): string => {
  const similar = similarNames(
    normalized(typed),
    sellers.map(({ name }) => normalized(name)),
  );
  const meant = sellers.filter(({ name }) => similar.includes(normalized(name)));
  if (meant.length === 0) return 'sellers list --search finds a part of a name.';
  return `Did you mean ${meant.map(({ name, seller_id }) => `${name} (${seller_id})`).join(' or ')}?`;
};

/** Returns the seller with an id or a name. Throws `seller_not_found`, or `ambiguous` with the sellers of that name. */
export const sellerNamed = async (admin: Administration, text: string): Promise<Seller> => {
  if (SELLER_ID.test(text)) return requireSeller(admin, text);
  if (KEY_ID.test(text)) {
    const { seller_id } = await requireKey(admin, text);
    throw new AdminError('seller_not_found', `${text} is a key. Its seller is ${seller_id}.`);
  }
  const sellers = await admin.sellers.list();
  const found = sellers.filter((seller) => isNamed(seller, text));
  const missing = () =>
    new AdminError('seller_not_found', `There is no seller ${text}. ${hintFor(text, sellers)}`);
  return onlyOne(found, missing, { several: 'Several sellers have this name.', lineOf: sellerLine });
};

/** Returns the keys of all sellers, seller by seller, the oldest seller first. */
export const keysOfAllSellers = async (admin: Administration): Promise<ApiKey[]> => {
  const sellers = await admin.sellers.list();
  return (await inTurns(sellers, AT_ONCE, ({ seller_id }) => admin.keys.listOf(seller_id))).flat();
};

/** Returns the key of a secret, by one read of its hash. Throws `key_not_found`, without the secret. */
export const keyOfSecret = async (admin: Administration, secret: string): Promise<ApiKey> => {
  const item = await getItem(admin.table, keySecretKey(hashApiKey(secret)));
  if (item !== undefined) return requireKey(admin, String(item.key_id));
  throw new AdminError(
    'key_not_found',
    'No key has this secret. Another stage may have it, or it had ended before the last rotation of its key.',
  );
};

/**
 * Returns the key with an id, with a secret that ends in four characters, or, unless it is revoked, with a name. Throws `key_not_found`, or `ambiguous` with the keys in
 * question. It never repeats any other text, which may be a secret.
 */
export const keyNamed = async (admin: Administration, text: string): Promise<ApiKey> => {
  if (KEY_ID.test(text)) return requireKey(admin, text);
  if (SELLER_ID.test(text)) {
    const keys = await admin.keys.listOf((await requireSeller(admin, text)).seller_id);
    const which = keys.length === 0 ? 'It has no keys.' : `Name one of its keys:${listed(keys.map(keyLine))}`;
    throw new AdminError('key_not_found', `${text} is a seller, not a key. ${which}`);
  }
  const ending = ENDING.exec(text)?.[1];
  // The name of a revoked key is free for another one.
  const isMeant = (key: ApiKey): boolean =>
    key.secrets.some(({ last_four }) => last_four === ending) ||
    (key.status !== 'revoked' && isNamed(key, text));
  const which = ending === undefined ? 'has this name' : `has this name or a secret that ends in ${ending}`;
  const hint = 'Name a key by its id, key_…, its name, or the last four characters of its secret.';
  const keys = await keysOfAllSellers(admin);
  const revoked = keys.filter((key) => isNamed(key, text));
  const missing = () =>
    revoked.length === 0
      ? new AdminError('key_not_found', `No key ${which}. ${hint}`)
      : new AdminError(
          'key_not_found',
          `Only revoked keys have this name. Use an id:${listed(revoked.map(keyLine))}`,
        );
  const found = keys.filter(isMeant);
  return onlyOne(found, missing, { several: 'Several keys have this name or ending.', lineOf: keyLine });
};

/** Returns what `find` finds, or its error if that has this code. */
const foundOrMissing = <T>(code: AdminErrorCode, find: Promise<T>): Promise<T | AdminError> =>
  find.catch((error: unknown) => {
    if (error instanceof AdminError && error.code === code) return error;
    throw error;
  });

/** Returns the seller, or the key, with an id or a name. Throws `seller_not_found`, with the hints for both, if it is neither's, or `ambiguous`. */
export const sellerOrKeyNamed = async (
  admin: Administration,
  text: string,
): Promise<{ readonly seller_id: string; readonly key_id?: string }> => {
  const seller = await foundOrMissing('seller_not_found', sellerNamed(admin, text));
  if (!(seller instanceof AdminError)) return { seller_id: seller.seller_id };
  const key = await foundOrMissing('key_not_found', keyNamed(admin, text));
  if (!(key instanceof AdminError)) return key;
  throw new AdminError('seller_not_found', `${seller.message} ${key.message}`);
};
