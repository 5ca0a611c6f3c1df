import type { Permissions } from '#shared/route.ts';

/** The items that the authorizer reads. It has no row in the route table, so its grants are derived from here. */
export const AUTHORIZER_PERMISSIONS = { table: { 'SECRET#': ['GetItem'] } } as const satisfies Permissions;

/**
 * The one thing the authorizer writes: the day a secret was last used, into items whose partition key begins so, and no other
 * attribute of them. It cannot write any attribute that its decision uses.
 */
export const AUTHORIZER_WRITES = {
  action: 'UpdateItem',
  partitionKeyPrefix: 'SECRET#',
  attributes: ['pk', 'sk', 'last_used_day'],
} as const;
