import { randomBase62 } from '#shared/base62.ts';

/** Makes the ids of sellers and keys: the prefix, `_` and 22 base62 characters (131 random bits). */
export type Ids = (prefix: 'sel' | 'key') => string;

export const randomIds: Ids = (prefix) => `${prefix}_${randomBase62(22)}`;
