import type { Administration } from '#admin/administration.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import type { Scope } from '#shared/scopes.ts';

/** The seller of the keys. It stays, without keys, and is used again. */
const SELLER_NAME = 'Smoke test';

/** A key that could not be revoked, because this process was killed, expires by itself. */
const LIFETIME_SECONDS = 3600;

const SCOPES = {
  shop: ['users:read', 'users:write'],
  reader: ['users:read'],
  app: ['buyers:register'],
} as const satisfies Record<string, readonly Scope[]>;

type KeyName = keyof typeof SCOPES;

const KEY_NAMES = Object.keys(SCOPES) as KeyName[];

/** The keys of one smoke test. */
export interface TestKeys {
  readonly admin: Administration;
  readonly ids: Readonly<Record<KeyName, string>>;
  readonly secrets: Readonly<Record<KeyName, string>>;
}

const testSeller = async (admin: Administration): Promise<string> => {
  for await (const { name, status, seller_id } of admin.sellers.list()) {
    if (name === SELLER_NAME && status === 'active') return seller_id;
  }
  return (await createSeller(admin, SELLER_NAME)).seller_id;
};

/** Issues the keys. Adds the id of each one to `issued` as soon as it exists. Throws if the signal is aborted. */
export const issueTestKeys = async (
  admin: Administration,
  issued: string[],
  signal: AbortSignal,
): Promise<TestKeys> => {
  const sellerId = await testSeller(admin);
  const ids: Partial<Record<KeyName, string>> = {};
  const secrets: Partial<Record<KeyName, string>> = {};
  for (const name of KEY_NAMES) {
    signal.throwIfAborted();
    const { key, secret } = await issueKey(admin, {
      sellerId,
      name: `smoke test ${name}`,
      plan: 'free',
      scopes: SCOPES[name],
      expiresAt: Math.floor(admin.clock() / 1000) + LIFETIME_SECONDS,
    });
    issued.push(key.key_id);
    ids[name] = key.key_id;
    secrets[name] = secret;
  }
  return { admin, ids: ids as TestKeys['ids'], secrets: secrets as TestKeys['secrets'] };
};

/** Revokes keys; one that is revoked already stays so. Returns the ids of those that could not be revoked. */
export const revokeTestKeys = async (admin: Administration, issued: readonly string[]): Promise<string[]> => {
  const failed: string[] = [];
  for (const id of issued) await revokeKey(admin, id).catch(() => failed.push(id));
  return failed;
};
