import { fromBase62, randomBase62, toBase62 } from '#shared/base62.ts';
import { MAX_ORDINAL } from '#shared/table/keys.ts';

/** Seven base62 characters hold 3.5 * 10^12 values: more than a seller has ordinals. */
const ORDINAL_CHARACTERS = 7;

/** Fifteen base62 characters hold 89 random bits. */
const RANDOM_CHARACTERS = 15;

const BASE62_CHARACTERS = ORDINAL_CHARACTERS + RANDOM_CHARACTERS;

/** `usr_`, the ordinal in 7 base62 characters, then 15 random ones. */
export const USER_ID = new RegExp(`^usr_[0-9A-Za-z]{${BASE62_CHARACTERS}}$`);

export const newRandomPart = (): string => randomBase62(RANDOM_CHARACTERS);

export const userIdAt = (ordinal: number, randomPart: string): string =>
  `usr_${toBase62(ordinal, ORDINAL_CHARACTERS)}${randomPart}`;

/** The number in a well-formed user id. An id that no user can have has a place too. */
export const placeInOrder = (userId: string): number | undefined =>
  USER_ID.test(userId)
    ? fromBase62(userId.slice('usr_'.length, 'usr_'.length + ORDINAL_CHARACTERS))
    : undefined;

export const ordinalOf = (userId: string): number | undefined => {
  const ordinal = placeInOrder(userId);
  return ordinal !== undefined && ordinal >= 1 && ordinal <= MAX_ORDINAL ? ordinal : undefined;
};
