import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { SecretSource } from './port.ts';

/** The hash secret as it is stored: the current key, and older ones whose hashes still stand in the table. */
const keyRingSchema = v.object({
  current: v.pipe(v.string(), v.minLength(32)),
  previous: v.optional(v.array(v.pipe(v.string(), v.minLength(32))), []),
});

/** Bytes of an HMAC that are kept in a hash: 24 of 32, 192 bits, more than any search reaches. */
const HASH_BYTES = 24;
/** Bytes of a buyer id: 128 bits. */
const SUBJECT_BYTES = 16;

/** One key a purpose, so that no hash of one kind can be taken for another. */
const derive = (master: string, purpose: 'hash' | 'code' | 'subject'): Buffer =>
  Buffer.from(hkdfSync('sha256', master, '', `buyer-linking:${purpose}`, 32));

/** Whatever is wrong with the secret, the error is our own: those of JSON.parse and valibot quote what they were given. */
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
 * Keyed hashes of what the table must not hold in the clear. Lists give the hash under the current key first, then under each
 * older key: what is written goes under the first, what is looked for may stand under any.
 */
export interface KeyedHashes {
  phone(phone: string): Promise<readonly [string, ...string[]]>;
  /** Of a national id, one for each seller, so that two sellers' tables cannot be compared. */
  person(sellerId: string, nationalId: string): Promise<readonly [string, ...string[]]>;
  /** The stable pseudonymous id of a phone's buyer. It comes from the oldest key of the ring, so a rotation does not change it. */
  buyerId(phone: string): Promise<string>;
  /** The MAC of a one-time code; the salt makes two sends of the same code differ. */
  codeMac(parts: { phone: string; audience: string; code: string; salt: string }): Promise<string>;
}

interface Keys {
  readonly hash: readonly [Buffer, ...Buffer[]];
  readonly code: Buffer;
  readonly subject: Buffer;
}

/** A key that is named twice counts once: a read of the table may not ask for one item twice. */
const keysOf = ({ current, previous }: v.InferOutput<typeof keyRingSchema>): Keys => {
  const older = [...new Set(previous)].filter((master) => master !== current);
  return {
    hash: [derive(current, 'hash'), ...older.map((master) => derive(master, 'hash'))],
    code: derive(current, 'code'),
    subject: derive(previous.at(-1) ?? current, 'subject'),
  };
};

/**
 * KeyedHashes under the keys of a secret: JSON `{ "current": "…", "previous": ["…"] }`, each at least 32 characters, the oldest key last.
 *
 * A container keeps the ring that it read for a while, so a rotation takes two steps, or one container could link a person whom
 * another, with the older ring, cannot find. First all learn to look under the new key, `{ current: old, previous: [new, old] }`;
 * once they have, it is written under: `{ current: new, previous: [old] }`.
 */
export const keyedHashesFrom = (secret: SecretSource): KeyedHashes => {
  let known: { text: string; keys: Keys } | undefined;

  const keys = async (): Promise<Keys> => {
    const text = await secret.read();
    if (known?.text !== text) known = { text, keys: keysOf(readRing(text)) };
    return known.keys;
  };

  const underEachKey = async (...parts: string[]): Promise<readonly [string, ...string[]]> => {
    const [current, ...older] = (await keys()).hash;
    return [hashWith(current, ...parts), ...older.map((key) => hashWith(key, ...parts))];
  };

  return {
    phone: (phone) => underEachKey('phone', phone),
    person: (sellerId, nationalId) => underEachKey('person', sellerId, nationalId),
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

/** Compares two MACs without telling by its time where they differ. */
export const sameMac = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};
