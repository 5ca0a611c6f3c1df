/** The permissions that a key can have. Neither users scope implies the other. */
export const SCOPES = ['users:read', 'users:write', 'buyers:register'] as const;

export type Scope = (typeof SCOPES)[number];
