/** The permissions that a key can have. Neither users scope implies the other. */
export const SCOPES = [
  'users:read',
  'users:write',
  'events:read',
  'key:rotate',
  'buyers:register',
  'buyers:links',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a key may have these scopes: only the buyer app, which registers buyers, may show them their links. */
export const areGrantable = (scopes: readonly Scope[]): boolean =>
  !scopes.includes('buyers:links') || scopes.includes('buyers:register');

/**
 * Returns whether the caller is the buyer app, by its key or because no key is taken: a verified code registers the buyer, its sends
 * have a count of their own, and its failed verifies are never refused.
 */
export const isBuyerApp = (caller: { readonly scopes: readonly Scope[] } | undefined): boolean =>
  caller === undefined || caller.scopes.includes('buyers:register');
