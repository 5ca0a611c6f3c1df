import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '#shared/base62.ts';
import type { KeyPrefix } from '#shared/env.ts';

const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const AFTER_PREFIX = new RegExp(`^[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

const checksum = (text: string): string => toBase62(crc32(text), CHECKSUM_LENGTH);

/** A new key: prefix, 32 random base62 characters (190 bits), and the CRC-32 of both in six base62 characters. */
export const newApiKey = (prefix: KeyPrefix): string => {
  const body = `${prefix}${randomBase62(RANDOM_LENGTH)}`;
  return `${body}${checksum(body)}`;
};

/** Returns whether the text has the form of a key and a valid checksum. Any other text is rejected without a read. */
export const isWellFormedKey = (text: string, prefix: KeyPrefix): boolean => {
  if (!text.startsWith(prefix) || !AFTER_PREFIX.test(text.slice(prefix.length))) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
};

/** The stored form of a key: its SHA-256 in hex. A key has 190 random bits, so a slow hash would add nothing. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The part of a key that is shown after it was issued. */
export const lastFourOf = (key: string): string => key.slice(-4);
