import * as v from 'valibot';
import type { Administration } from '#admin/administration.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import { isUsable } from '#shared/api-keys/api-key-item.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import type { BuyerStore } from '#shared/buyers/store.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { Scope } from '#shared/scopes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import { PHONE_EXAMPLE } from '#shared/values/schemas.ts';
import { readIfThere, writePrivateJson } from './data-folder.ts';
import { damagedFile } from './startup-error.ts';

interface DemoKey {
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
}

/** What the guides for sellers do. */
const SCOPES_OF_GUIDES = ['users:read', 'users:write', 'events:read', 'key:rotate'] as const;

/** The keys of the demo seller, by their names in .local/demo.json. */
const DEMO_KEYS = {
  free: { plan: 'free', scopes: SCOPES_OF_GUIDES },
  professional: { plan: 'professional', scopes: SCOPES_OF_GUIDES },
  read_only: { plan: 'professional', scopes: ['users:read'] },
  write_only: { plan: 'professional', scopes: ['users:write'] },
  app: { plan: 'professional', scopes: ['buyers:register', 'buyers:links'] },
  events: { plan: 'professional', scopes: ['users:read', 'users:write', 'events:read'] },
  rotate: { plan: 'professional', scopes: ['users:read', 'key:rotate'] },
} as const satisfies Record<string, DemoKey>;

type DemoKeyName = keyof typeof DEMO_KEYS;

const DEMO_KEY_NAMES = Object.keys(DEMO_KEYS) as DemoKeyName[];

/** Two sellers with keys of every kind. */
export interface DemoSellers {
  readonly seller_id: string;
  readonly keys: Readonly<Record<DemoKeyName, string>>;
  readonly other_seller: { readonly seller_id: string; readonly key: string };
}

/** The content of demo.json: the addresses of the service and of its database, and the keys to call it with. */
export interface Demo extends DemoSellers {
  readonly base_url: string;
  readonly dynamodb_endpoint: string;
  readonly table_name: string;
}

/** The file of an earlier version lacks the keys that came later. They are issued, the others are kept. */
const keptSchema = v.object({
  seller_id: v.string(),
  keys: v.record(v.string(), v.string()),
  other_seller: v.object({ seller_id: v.string(), key: v.string() }),
});

/**
 * Returns the demo sellers and their keys. Keys of the last start that still work are kept; the others are issued again with the admin
 * operations. `file` undefined: nothing is kept.
 */
export const seedDemo = async (file: string | undefined, admin: Administration): Promise<DemoSellers> => {
  const schema = v.pipe(v.string(), v.parseJson(), keptSchema);
  // A missing or damaged file: everything is created again.
  const { success, output } = v.safeParse(schema, file && (await readIfThere(file)));
  const kept = success ? output : undefined;
  const sellerId = await ensureSeller(admin, kept?.seller_id, 'Demo Shop');
  const keys = {} as Record<DemoKeyName, string>;
  for (const name of DEMO_KEY_NAMES) {
    const wanted = { ...DEMO_KEYS[name], sellerId, name: `demo ${name.replace('_', ' ')}` };
    keys[name] = await ensureKey(admin, kept?.keys[name], wanted);
  }
  const otherId = await ensureSeller(admin, kept?.other_seller.seller_id, 'Other Shop');
  const other = { ...DEMO_KEYS.professional, sellerId: otherId, name: 'demo other seller' };
  const key = await ensureKey(admin, kept?.other_seller.key, other);
  const sellers = { seller_id: sellerId, keys, other_seller: { seller_id: otherId, key } };
  if (file !== undefined) await writePrivateJson(file, sellers);
  return sellers;
};

/** Registers the buyer of the examples, so that POST /v1/users succeeds as the documentation shows it. Throws a StartupError if the hash secret is damaged. */
export const registerExampleBuyer = async (
  buyers: Pick<BuyerStore, 'register'>,
  hashSecretFile: string,
): Promise<void> => {
  const hashes = keyedHashesFrom(fileSecret(hashSecretFile));
  const phoneHash = await hashes.phone(PHONE_EXAMPLE).catch((error: Error) => {
    throw damagedFile(hashSecretFile, error.message);
  });
  await buyers.register(phoneHash.current, await hashes.buyerId(PHONE_EXAMPLE), new Date().toISOString());
};

const ensureSeller = async (admin: Administration, keptId: string | undefined, name: string) => {
  const kept = keptId && (await admin.sellers.find(keptId));
  return kept && kept.status === 'active' ? kept.seller_id : (await createSeller(admin, name)).seller_id;
};

const ensureKey = async (
  admin: Administration,
  kept: string | undefined,
  wanted: DemoKey & { readonly sellerId: string; readonly name: string },
): Promise<string> => {
  const found = kept && (await keySecretStore(admin.table).findSecret(hashApiKey(kept)));
  const works =
    found &&
    found.seller_id === wanted.sellerId &&
    isUsable(found, Date.now()) &&
    wanted.scopes.every((scope) => found.scopes.includes(scope));
  return works ? kept : (await issueKey(admin, wanted)).secret;
};
