/** Neither users scope implies the other. */
export const SCOPES = [
  'users:read',
  'users:write',
  'events:read',
  'key:rotate',
  'buyers:register',
  'buyers:links',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Only the buyer app, which registers buyers, may show them their links. */
export const areGrantable = (scopes: readonly Scope[]): boolean =>
  !scopes.includes('buyers:links') || scopes.includes('buyers:register');

/** By its key or because no key is taken: its verified codes register buyers, its sends and failed verifies have rules of their own. */
export const isBuyerAppOrPublic = (caller: { readonly scopes: readonly Scope[] } | undefined): boolean =>
  caller === undefined || caller.scopes.includes('buyers:register');
