/** Makes new identifiers: `usr_` + 22 base62 characters (about 131 bits), so they never meet. */
export type Ids = (prefix: 'usr' | 'sel' | 'key') => string;
