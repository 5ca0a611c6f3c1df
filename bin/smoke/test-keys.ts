import type { Administration } from '#admin/administration.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import type { Scope } from '#shared/scopes.ts';

/** The seller of the keys. It stays, without keys, and is used again. */
const SELLER_NAME = 'Smoke test';

/** A key that could not be revoked, because this process was killed, expires by itself. */
const LIFETIME_SECONDS = 3600;

type KeyName = 'shop' | 'reader' | 'app';

type KeyScopes = readonly (readonly [KeyName, readonly Scope[]])[];

const SCOPES: KeyScopes = [
  ['shop', ['users:read', 'users:write']],
  ['reader', ['users:read']],
];

/** Only the checks that need a person use it, so a stage with real people never has such a key. */
const SCOPES_WITH_PEOPLE: KeyScopes = [...SCOPES, ['app', ['buyers:register']]];

const testSeller = async (admin: Administration): Promise<string> => {
  for (const { name, status, seller_id } of await admin.sellers.list()) {
    if (name === SELLER_NAME && status === 'active') return seller_id;
  }
  return (await createSeller(admin, SELLER_NAME)).seller_id;
};

/** Returns the keys of one smoke test, which are not issued yet. The one of the buyer app exists only with test people. */
export const testKeys = (admin: Administration, hasPeople: boolean) => {
  const ids = {} as Record<KeyName, string>;
  const secrets = {} as Record<KeyName, string>;
  return {
    secrets,

    /** Issues the keys. Throws if the signal is aborted. */
    async issue(signal: AbortSignal): Promise<void> {
      const sellerId = await testSeller(admin);
      const expiresAt = Math.floor(admin.clock() / 1000) + LIFETIME_SECONDS;
      for (const [name, scopes] of hasPeople ? SCOPES_WITH_PEOPLE : SCOPES) {
        signal.throwIfAborted();
        const options = { sellerId, name: `smoke test ${name}`, plan: 'free', scopes, expiresAt } as const;
        const { key, secret } = await issueKey(admin, options);
        ids[name] = key.key_id;
        secrets[name] = secret;
      }
    },

    revoke: (name: KeyName) => revokeKey(admin, ids[name]),

    /** Revokes every key that was issued; one that is revoked already stays so. Returns the ids of those that could not be revoked. */
    async revokeAll(): Promise<readonly string[]> {
      const failed: string[] = [];
      for (const id of Object.values(ids)) await revokeKey(admin, id).catch(() => failed.push(id));
      return failed;
    },
  };
};

export type TestKeys = ReturnType<typeof testKeys>;
