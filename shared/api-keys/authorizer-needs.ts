import type { Needs } from '#shared/routes.ts';

/** What the authorizer needs besides its code. It stands in no row of the route table, so its grants are derived from here. */
export const AUTHORIZER_NEEDS = {
  // It reads the secret's item, and once a day writes into the same item that it was used.
  table: ['GetItem', 'UpdateItem'],
} as const satisfies Needs;
