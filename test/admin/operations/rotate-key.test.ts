import { setExpiry } from '#admin/operations/change-key.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { administrationBench } from './bench.ts';

const DAY = 86_400;

let table: EmbeddedTable;
let bench: Awaited<ReturnType<typeof administrationBench>>;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());
beforeEach(async () => {
  bench = await administrationBench(table);
});

const nowSeconds = () => Math.floor(bench.clock() / 1000);
const endOf = async (secret: string) =>
  (await keySecretStore(bench.table).findSecret(hashApiKey(secret)))?.expires_at;

it('lets both secrets work for the grace, under one usage id, and then the new one alone', async () => {
  const { key, secret: old } = await bench.issued();
  const { secret } = await rotateKey(bench.admin, key.key_id, 3600);
  expect([await bench.works(old), await bench.works(secret)]).toEqual([true, true]);
  expect((await bench.judge(old))?.usage_id).toBe((await bench.judge(secret))?.usage_id);
  bench.clock.advance(3600);
  expect([await bench.works(old), await bench.works(secret)]).toEqual([false, true]);
});

it('ends the old secret at once if there is no grace', async () => {
  const { key, secret: old } = await bench.issued();
  expect(await bench.works(old)).toBe(true);
  const { secret } = await rotateKey(bench.admin, key.key_id, 0);
  expect([await bench.works(old), await bench.works(secret)]).toEqual([false, true]);
});

it('ends the old secret at the earlier of its own end and now + grace, and the new one with the key', async () => {
  const { key, secret: old } = await bench.issued({ expiresAt: nowSeconds() + DAY });
  const keyEnd = key.expires_at;
  const { secret } = await rotateKey(bench.admin, key.key_id, 2 * DAY);
  expect([await endOf(old), await endOf(secret)]).toEqual([keyEnd, keyEnd]);
  const { secret: third } = await rotateKey(bench.admin, key.key_id, 60);
  expect([await endOf(old), await endOf(secret), await endOf(third)]).toEqual([
    nowSeconds() + 60,
    nowSeconds() + 60,
    keyEnd,
  ]);
});

it('gives an old secret no more time when its key is given more', async () => {
  const { key, secret: old } = await bench.issued({ expiresAt: nowSeconds() + DAY });
  const { secret } = await rotateKey(bench.admin, key.key_id, 2 * DAY);
  await setExpiry(bench.admin, key.key_id, undefined);
  expect([await endOf(old), await endOf(secret)]).toEqual([key.expires_at, undefined]);
});

it('forgets a secret that has ended, and its item', async () => {
  const { key, secret: old } = await bench.issued();
  await rotateKey(bench.admin, key.key_id, 60);
  bench.clock.advance(60);
  const { key: now } = await rotateKey(bench.admin, key.key_id, 60);
  expect(now.secrets).toHaveLength(2);
  expect(await keySecretStore(bench.table).findSecret(hashApiKey(old))).toBeUndefined();
});

it('refuses an eleventh secret, and a key that is revoked', async () => {
  const { key } = await bench.issued();
  for (let count = 0; count < 9; count += 1) await rotateKey(bench.admin, key.key_id, DAY);
  await expect(rotateKey(bench.admin, key.key_id, DAY)).rejects.toMatchObject({ code: 'too_many_secrets' });
  await revokeKey(bench.admin, key.key_id);
  await expect(rotateKey(bench.admin, key.key_id, DAY)).rejects.toMatchObject({ code: 'key_revoked' });
});

it('loses neither of two rotations that happen at the same moment', async () => {
  const { key, secret: old } = await bench.issued();
  const rotations = await Promise.all([1, 2, 3].map(() => rotateKey(bench.admin, key.key_id, DAY)));
  const secrets = [old, ...rotations.map(({ secret }) => secret)];
  expect(await Promise.all(secrets.map(bench.works))).toEqual([true, true, true, true]);
  expect((await bench.admin.keys.find(key.key_id))?.secrets).toHaveLength(4);
});
