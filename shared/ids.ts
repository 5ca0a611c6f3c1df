import { randomBase62 } from './base62.ts';

/** Makes new identifiers: the prefix, `_` and 22 base62 characters (131 random bits). User ids: see users/user-id.ts. */
export type Ids = (prefix: 'sel' | 'key') => string;

export const randomIds: Ids = (prefix) => `${prefix}_${randomBase62(22)}`;
