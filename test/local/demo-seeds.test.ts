import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Administration } from '#admin/administration.ts';
import { revokeKey, setScopes } from '#admin/operations/change-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { localAdministration } from '#local/administration.ts';
import { type DemoSellers, seedDemo } from '#local/demo-seeds.ts';
import { KEY_PREFIX } from '#local/environment.ts';
import { hashApiKey, isWellFormedKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let admin: Administration;
let folder: string;
let file: string;

beforeEach(async () => {
  admin = localAdministration(table, 'local:tester');
  folder = await newDataFolder();
  file = join(folder, 'demo-keys.json');
});
afterEach(() => removeDataFolder(folder));

const allKeys = ({ keys, other_seller }: DemoSellers): string[] => [...Object.values(keys), other_seller.key];

const secretOf = (key: string) => keySecretStore(table).findSecret(hashApiKey(key));

describe('seedDemo', () => {
  it('issues a key of every documented kind', async () => {
    const { seller_id, keys, other_seller } = await seedDemo(file, admin);
    const both = ['users:read', 'users:write'];
    const all = [...both, 'events:read', 'key:rotate'];
    for (const [key, plan, scopes, seller] of [
      [keys.free, 'free', all, seller_id],
      [keys.professional, 'professional', all, seller_id],
      [keys.read_only, 'professional', ['users:read'], seller_id],
      [keys.write_only, 'professional', ['users:write'], seller_id],
      [keys.app, 'professional', ['buyers:register', 'buyers:links'], seller_id],
      [keys.events, 'professional', [...both, 'events:read'], seller_id],
      [keys.rotate, 'professional', ['users:read', 'key:rotate'], seller_id],
      [other_seller.key, 'professional', all, other_seller.seller_id],
    ] as const) {
      expect(isWellFormedKey(key, KEY_PREFIX)).toBe(true);
      expect(await secretOf(key)).toMatchObject({ plan, scopes, seller_id: seller, status: 'active' });
    }
    expect(other_seller.seller_id).not.toBe(seller_id);
  });

  it('returns the same keys at the next start', async () => {
    const first = await seedDemo(file, admin);
    expect(await seedDemo(file, admin)).toEqual(first);
  });

  it('issues new keys at each start without a file', async () => {
    const [first, second] = [await seedDemo(undefined, admin), await seedDemo(undefined, admin)];
    expect(new Set([...allKeys(first), ...allKeys(second)]).size).toBe(16);
  });

  it.each<[string, (made: DemoSellers, keyId: string) => Promise<unknown>]>([
    ['is revoked', (_made, keyId) => revokeKey(admin, keyId)],
    [
      'lacks a scope, as one of an earlier version does',
      (_made, keyId) => setScopes(admin, keyId, ['users:read']),
    ],
    [
      'is missing, as in the file of an earlier version',
      ({ keys: { free: _, ...earlier }, ...made }) =>
        writeFile(file, JSON.stringify({ ...made, keys: earlier })),
    ],
    [
      'belongs to another seller',
      (made) =>
        writeFile(file, JSON.stringify({ ...made, keys: { ...made.keys, free: made.other_seller.key } })),
    ],
  ])('issues a key again that %s, and keeps the others', async (_title, damage) => {
    const first = await seedDemo(file, admin);
    await damage(first, (await secretOf(first.keys.free))?.key_id ?? '');
    const second = await seedDemo(file, admin);
    expect(second).toEqual({ ...first, keys: { ...first.keys, free: second.keys.free } });
    expect(second.keys.free).not.toBe(first.keys.free);
    expect(await secretOf(second.keys.free)).toMatchObject({ seller_id: first.seller_id, status: 'active' });
  });

  it('creates a seller anew that is suspended, with its keys, and keeps the other one', async () => {
    const first = await seedDemo(file, admin);
    await setSellerStatus(admin, first.seller_id, 'suspended');
    const second = await seedDemo(file, admin);
    expect(second.seller_id).not.toBe(first.seller_id);
    expect((await secretOf(second.keys.free))?.seller_id).toBe(second.seller_id);
    expect(second.other_seller).toEqual(first.other_seller);
  });

  it('creates new sellers and keys when the file is damaged', async () => {
    const first = await seedDemo(file, admin);
    await writeFile(file, '{"half":');
    const second = await seedDemo(file, admin);
    expect(second.seller_id).not.toBe(first.seller_id);
    expect(new Set([...allKeys(first), ...allKeys(second)]).size).toBe(16);
  });
});
