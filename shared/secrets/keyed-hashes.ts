import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { randomBase62 } from '#shared/base62.ts';
import { readEnv } from '#shared/env.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { type SecretSource, secretAt } from './secret-source.ts';

const masterSchema = v.pipe(v.string(), v.minLength(32));

/** `previous`: keys whose hashes are still in the table, the oldest last. */
const keyRingSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ current: masterSchema, previous: v.optional(v.array(masterSchema), []) }),
);

export type KeyRing = v.InferOutput<typeof keyRingSchema>;

export const parseKeyRing = (text: string): KeyRing | undefined => {
  const ring = v.safeParse(keyRingSchema, text);
  return ring.success ? ring.output : undefined;
};

/** The length of a hash: 24 of the 32 bytes of the HMAC. 192 bits are beyond any search. */
const HASH_BYTES = 24;
const SUBJECT_BYTES = 16;

const SALT_LENGTH = 12;

/** A code of a seller, or of `public`, for a phone. */
interface SentCode {
  readonly phone: string;
  readonly audience: string;
  readonly code: string;
}

/** A hash for one purpose is never valid for another. */
const derive = (master: string, purpose: 'hash' | 'code' | 'subject'): Buffer =>
  Buffer.from(hkdfSync('sha256', master, '', `buyer-linking:${purpose}`, 32));

const hashWith = (key: Buffer, parts: readonly string[], bytes = HASH_BYTES): string =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest().subarray(0, bytes).toString('base64url');

/** The keyed hash of one value. During a rotation of the hash secret, the table holds it under the current key or under an older one. */
export class KeyedHash {
  /** Under the current key: what is written. */
  readonly current: string;
  readonly #older: readonly string[];

  constructor(current: string, older: readonly string[] = []) {
    this.current = current;
    this.#older = older;
  }

  /** Whether a stored hash is of this value, under whichever key. */
  isOf(stored: unknown): boolean {
    return stored === this.current || this.#older.some((hash) => hash === stored);
  }

  /** The keys of a read, one under each hash. */
  keys<Key>(keyOf: (hash: string) => Key): Key[] {
    return [keyOf(this.current), ...this.olderKeys(keyOf)];
  }

  /** The keys under the hashes that are no longer written. */
  olderKeys<Key>(keyOf: (hash: string) => Key): Key[] {
    return this.#older.map(keyOf);
  }
}

/** Throws an error that does not quote the secret, as those of JSON.parse and valibot do. */
const keysFrom = (text: string) => {
  const ring = parseKeyRing(text);
  if (ring === undefined)
    throw new Error(
      'the hash secret is not { "current": "…", "previous": ["…"] }, each at least 32 characters',
    );
  const { current, previous } = ring;
  // Without duplicates: a read of the table must not name an item twice.
  const older = [...new Set(previous)].filter((master) => master !== current);
  return {
    current: derive(current, 'hash'),
    older: older.map((master) => derive(master, 'hash')),
    code: derive(current, 'code'),
    subject: derive(previous.at(-1) ?? current, 'subject'),
  };
};

/** Returns the keys, derived once for each text of the secret. A malformed text keeps the last good keys. */
const keysOf = (secret: SecretSource) => {
  let known: { readonly text: string; readonly keys: ReturnType<typeof keysFrom> } | undefined;

  return async () => {
    const text = await secret.read();
    if (known?.text === text) return known.keys;
    try {
      known = { text, keys: keysFrom(text) };
    } catch (error) {
      if (known === undefined) throw error;
      logEvent('secret_refresh_failed', { secret: 'hash secret', ...errorFields(error) });
      known = { text, keys: known.keys };
    }
    return known.keys;
  };
};

/**
 * The keyed hashes (HMAC-SHA-256) of what the table must not contain. A container caches the keys, so a rotation takes two steps: first all
 * read with the new key, `{ current: old, previous: [new, old] }`; after the cache time they write with it. If a refreshed secret is
 * malformed, the last good keys stay in use and `secret_refresh_failed` is logged.
 */
export const keyedHashesFrom = (secret: SecretSource) => {
  const keys = keysOf(secret);

  const underEachKey = async (hashOf: (key: Buffer) => string): Promise<KeyedHash> => {
    const { current, older } = await keys();
    return new KeyedHash(hashOf(current), older.map(hashOf));
  };

  /** `salt.hash`. A new salt makes the MACs of two sends of the same code differ. */
  const codeMac = async (
    { phone, audience, code }: SentCode,
    salt = randomBase62(SALT_LENGTH),
  ): Promise<string> => `${salt}.${hashWith((await keys()).code, [phone, audience, code, salt])}`;

  return {
    codeMac,

    /** Whether a stored MAC is that of a code; in constant time. */
    async isCode(mac: string, sent: SentCode): Promise<boolean> {
      const [salt] = mac.split('.', 1);
      return sameMac(await codeMac(sent, salt), mac);
    },

    phone: (phone: string) => underEachKey((key) => hashWith(key, ['phone', phone])),

    /** Hashes a national id, differently for each seller, so that the users of two sellers cannot be compared. */
    person: (sellerId: string, nationalId: string) =>
      underEachKey((key) => hashWith(key, ['person', sellerId, nationalId])),

    /** `personHash`: as the user is stored. */
    linkId: (sellerId: string, personHash: string, phone: string) =>
      underEachKey((key) => `lnk_${hashWith(key, ['link', sellerId, personHash, phone], SUBJECT_BYTES)}`),

    /** The `sub` of tokens. It is derived from the oldest key, so a rotation does not change it. */
    buyerId: async (phone: string): Promise<string> =>
      `byr_${hashWith((await keys()).subject, [phone], SUBJECT_BYTES)}`,
  };
};

export type KeyedHashes = ReturnType<typeof keyedHashesFrom>;

export const sameMac = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};

export const hashesFromEnv = (): KeyedHashes =>
  keyedHashesFrom(secretAt(readEnv(['HASH_SECRET']).HASH_SECRET));
