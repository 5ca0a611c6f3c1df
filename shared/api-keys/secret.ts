import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '#shared/base62.ts';
import type { KeyPrefix } from '#shared/env.ts';
import { type ApiKey, type SecretSummary, secretEnd } from './api-key-item.ts';

const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const AFTER_PREFIX = `[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`;
const afterPrefix = new RegExp(`^${AFTER_PREFIX}$`);

/** The form of a key without its checksum, as a regular expression: what the firewall can decide. */
export const keyForm = (prefix: KeyPrefix): string => `^${prefix}${AFTER_PREFIX}$`;

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_LENGTH);

/** A new key: prefix, 32 random base62 characters (190 bits), and the CRC-32 of both in six base62 characters. */
export const newApiKey = (prefix: KeyPrefix): string => {
  const body = `${prefix}${randomBase62(RANDOM_LENGTH)}`;
  return `${body}${checksum(body)}`;
};

/** Any other text is rejected without a read. */
export const isWellFormedKey = (text: string, prefix: KeyPrefix): boolean => {
  if (!text.startsWith(prefix) || !afterPrefix.test(text.slice(prefix.length))) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
};

/** The stored form of a key: its SHA-256 in hex. A key has 190 random bits, so a slow hash would add nothing. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

export const lastFourOf = (key: string): string => key.slice(-4);

/** The text exists only in the response that shows it once. */
export interface NewSecret {
  readonly text: string;
  readonly summary: Omit<SecretSummary, 'number'>;
}

export const newSecret = (
  prefix: KeyPrefix,
  { created_at, created_by }: Pick<SecretSummary, 'created_at' | 'created_by'>,
): NewSecret => {
  const text = newApiKey(prefix);
  return {
    text,
    summary: { hash: hashApiKey(text), prefix, last_four: lastFourOf(text), created_at, created_by },
  };
};

/** Newest first. */
export const validSecrets = (key: ApiKey, nowSeconds: number): SecretSummary[] =>
  key.secrets.filter((secret) => (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY) > nowSeconds);

interface Rotation {
  readonly nowSeconds: number;
  /** When every older secret ends at the latest, epoch seconds. */
  readonly olderEnd: number;
}

/** Ended secrets are dropped. */
export const rotated = (
  key: ApiKey,
  added: NewSecret['summary'],
  { nowSeconds, olderEnd }: Rotation,
): ApiKey => {
  const older = validSecrets(key, nowSeconds).map((secret) => ({
    ...secret,
    ends_at: Math.min(secretEnd(key, secret) ?? olderEnd, olderEnd),
  }));
  const number = Math.max(0, ...key.secrets.map((secret) => secret.number)) + 1;
  return { ...key, secrets: [{ ...added, number }, ...older] };
};
