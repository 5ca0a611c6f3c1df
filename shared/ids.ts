import { randomBase62 } from './base62.ts';

/** Makes new identifiers: `usr_` and 22 base62 characters (about 131 random bits). */
export type Ids = (prefix: 'usr' | 'sel' | 'key') => string;

export const randomIds: Ids = (prefix) => `${prefix}_${randomBase62(22)}`;
