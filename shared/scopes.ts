/** What a key may be allowed to do. Neither users scope implies the other. */
export const SCOPES = ['users:read', 'users:write', 'buyers:register'] as const;

export type Scope = (typeof SCOPES)[number];
