import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { errorFields, logEvent } from '#shared/log.ts';
import type { SecretSource } from './port.ts';

/** The stored form of the hash secret: the current key, and older ones whose hashes are still in the table. */
const keyRingSchema = v.object({
  current: v.pipe(v.string(), v.minLength(32)),
  previous: v.optional(v.array(v.pipe(v.string(), v.minLength(32))), []),
});

/** The length of a hash: 24 of the 32 bytes of the HMAC. 192 bits are beyond any search. */
const HASH_BYTES = 24;
/** The length of a buyer id: 128 bits. */
const SUBJECT_BYTES = 16;

/** Returns a key for one purpose, so that a hash for one purpose is never valid for another. */
const derive = (master: string, purpose: 'hash' | 'code' | 'subject'): Buffer =>
  Buffer.from(hkdfSync('sha256', master, '', `buyer-linking:${purpose}`, 32));

/** Throws an error that does not quote the secret, as those of JSON.parse and valibot do. */
const readRing = (text: string): v.InferOutput<typeof keyRingSchema> => {
  try {
    return v.parse(keyRingSchema, JSON.parse(text));
  } catch {
    throw new Error(
      'the hash secret is not { "current": "…", "previous": ["…"] }, each at least 32 characters',
    );
  }
};

const hmac = (key: Buffer, ...parts: readonly string[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest();

const hashWith = (key: Buffer, ...parts: readonly string[]): string =>
  hmac(key, ...parts)
    .subarray(0, HASH_BYTES)
    .toString('base64url');

/**
 * Keyed hashes (HMAC-SHA-256) of the values that the table must not contain. A list starts with the hash under the current key, followed
 * by those under the older keys: writes use the first, reads try every one.
 */
export interface KeyedHashes {
  phone(phone: string): Promise<readonly [string, ...string[]]>;
  /** Hashes a national id, differently for each seller, so that the users of two sellers cannot be compared. */
  person(sellerId: string, nationalId: string): Promise<readonly [string, ...string[]]>;
  /** Hashes the birth date (ISO) and the phone hash that a check of a person was for, under the current key. */
  checkedData(birthDay: string, phoneHash: string): Promise<string>;
  /** Returns the stable pseudonymous id of a buyer. It is derived from the oldest key, so a rotation does not change it. */
  buyerId(phone: string): Promise<string>;
  /** Returns the MAC of a one-time code. The salt makes the MACs of two sends of the same code differ. */
  codeMac(parts: { phone: string; audience: string; code: string; salt: string }): Promise<string>;
}

interface Keys {
  readonly hash: readonly [Buffer, ...Buffer[]];
  readonly code: Buffer;
  readonly subject: Buffer;
}

/** Removes duplicate keys: a read of the table must not name an item twice. */
const keysOf = ({ current, previous }: v.InferOutput<typeof keyRingSchema>): Keys => {
  const older = [...new Set(previous)].filter((master) => master !== current);
  return {
    hash: [derive(current, 'hash'), ...older.map((master) => derive(master, 'hash'))],
    code: derive(current, 'code'),
    subject: derive(previous.at(-1) ?? current, 'subject'),
  };
};

/**
 * Returns the hashes under the keys of a secret: JSON `{ "current": "…", "previous": ["…"] }`, each at least 32 characters, the oldest
 * key last.
 *
 * A container caches the keys, so a rotation takes two steps; otherwise one container could link a person whom another, with the older
 * keys, does not find. Step 1, all containers read with the new key: `{ current: old, previous: [new, old] }`. Step 2, after the cache
 * time of the secret, they write with it: `{ current: new, previous: [old] }`.
 *
 * If a refreshed secret is malformed, the last good keys stay in use and `secret_refresh_failed` is logged.
 */
export const keyedHashesFrom = (secret: SecretSource): KeyedHashes => {
  let known: { text: string; keys: Keys } | undefined;

  const keys = async (): Promise<Keys> => {
    const text = await secret.read();
    if (known?.text !== text) known = { text, keys: keysFrom(text, known?.keys) };
    return known.keys;
  };

  const underEachKey = async (...parts: string[]): Promise<readonly [string, ...string[]]> => {
    const [current, ...older] = (await keys()).hash;
    return [hashWith(current, ...parts), ...older.map((key) => hashWith(key, ...parts))];
  };

  return {
    phone: (phone) => underEachKey('phone', phone),
    person: (sellerId, nationalId) => underEachKey('person', sellerId, nationalId),
    async checkedData(birthDay, phoneHash) {
      return hashWith((await keys()).hash[0], 'checked data', birthDay, phoneHash);
    },
    async buyerId(phone) {
      const { subject } = await keys();
      return `byr_${hmac(subject, phone).subarray(0, SUBJECT_BYTES).toString('base64url')}`;
    },
    async codeMac({ phone, audience, code, salt }) {
      const { code: key } = await keys();
      return `${salt}.${hashWith(key, phone, audience, code, salt)}`;
    },
  };
};

/** Parses the secret. Returns `lastGood`, if there is one, when the keys are malformed. */
const keysFrom = (text: string, lastGood: Keys | undefined): Keys => {
  try {
    return keysOf(readRing(text));
  } catch (error) {
    if (lastGood === undefined) throw error;
    logEvent('secret_refresh_failed', { secret: 'hash secret', ...errorFields(error) });
    return lastGood;
  }
};

/** Compares two MACs in constant time. */
export const sameMac = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};
