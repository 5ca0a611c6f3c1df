import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import { type LocalUsagePlans, openUsagePlans } from '#local/usage-plans/store.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { startUsagePlans } from './start.ts';

const VALUE = 'v'.repeat(40);
const NOW_MS = Date.parse('2026-11-21T10:00:00Z');
const clock = () => NOW_MS;

const newKey = (store: LocalUsagePlans, value = VALUE) =>
  store.createKey({ name: 'key', value, enabled: true });

describe('throttleOf', () => {
  it('returns the throttle of the plan only while the key is enabled and in a plan', async () => {
    const store = await openUsagePlans({ clock });
    expect(store.throttleOf(VALUE)).toBeUndefined();
    const { id } = await newKey(store);
    expect(store.throttleOf(VALUE)).toBeUndefined();
    await store.attach(id, 'free');
    expect(store.throttleOf(VALUE)).toEqual(usagePlanThrottle('free'));
    await store.setEnabled(id, false);
    expect(store.throttleOf(VALUE)).toBeUndefined();
    await store.setEnabled(id, true);
    await store.detach(id, 'free');
    await store.attach(id, 'professional');
    expect(store.throttleOf(VALUE)).toEqual(usagePlanThrottle('professional'));
    await store.deleteKey(id);
    expect(store.throttleOf(VALUE)).toBeUndefined();
  });
});

describe('createKey', () => {
  it('throws key_quota_reached when the store holds 10,000 keys', async () => {
    const store = await openUsagePlans({ clock });
    for (let index = 0; index < KEY_QUOTA; index += 1) await newKey(store, `value${index}`);
    await expect(newKey(store)).rejects.toMatchObject({ name: 'Refusal', code: 'key_quota_reached' });
  });
});

describe('the file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'usage-plans-'));
    file = join(folder, 'usage-plans.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('holds each change before its promise resolves, and is read at the next start', async () => {
    const first = await openUsagePlans({ file, clock });
    const { id } = await newKey(first);
    await first.attach(id, 'free');
    expect(JSON.parse(await readFile(file, 'utf8')).keys).toMatchObject([{ id, value: VALUE, plan: 'free' }]);
    first.recordUse(VALUE);
    await first.close();

    const second = await openUsagePlans({ file, clock });
    expect(second.throttleOf(VALUE)).toEqual(usagePlanThrottle('free'));
    expect(await second.usage(id, 'free', '2026-11-21', '2026-11-21')).toEqual([
      { day: '2026-11-21', requests: 1 },
    ]);
    expect(await readdir(folder)).toEqual(['usage-plans.json']);
  });

  it('holds every one of many concurrent changes', async () => {
    const store = await openUsagePlans({ file, clock });
    await Promise.all(Array.from({ length: 20 }, (_, index) => newKey(store, `${VALUE}${index}`)));
    expect(JSON.parse(await readFile(file, 'utf8')).keys).toHaveLength(20);
  });

  it('is named and kept when it is damaged', async () => {
    await writeFile(file, '{"keys": [');
    await expect(openUsagePlans({ file, clock })).rejects.toThrow(file);
    expect(await readFile(file, 'utf8')).toBe('{"keys": [');
  });
});

describe('the endpoint', () => {
  let running: Awaited<ReturnType<typeof startUsagePlans>>;
  beforeAll(async () => {
    running = await startUsagePlans({ clock });
  });
  afterAll(() => running.stop());

  const call = (method: string, args: unknown, token = running.access.token) =>
    fetch(`${running.access.url}/${method}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(args),
    });

  it('runs a method of the port with its arguments', async () => {
    const reply = await call('countKeys', [10]);
    expect([reply.status, await reply.json()]).toEqual([200, { result: 0 }]);
  });

  it('returns 403 to a wrong token, without running the method', async () => {
    const key = { name: 'key', value: VALUE, enabled: true };
    expect((await call('createKey', [key], 'wrong')).status).toBe(403);
    expect(await running.store.countKeys(10)).toBe(0);
  });

  it.each(['toString', 'close', 'recordUse', ''])('returns 404 to the method "%s"', async (method) => {
    expect((await call(method, [])).status).toBe(404);
  });

  it('returns 409 to arguments of another type', async () => {
    expect((await call('countKeys', ['many'])).status).toBe(409);
    expect((await call('attach', ['id', 'gold'])).status).toBe(409);
  });
});

describe('the client', () => {
  it('throws the Refusal of the store', async () => {
    const { store, client, stop } = await startUsagePlans({ clock });
    for (let index = 0; index < KEY_QUOTA; index += 1) await newKey(store, `value${index}`);
    const created = client.createKey({ name: 'key', value: VALUE, enabled: true });
    await expect(created).rejects.toMatchObject({ name: 'Refusal', code: 'key_quota_reached' });
    await stop();
  });

  it('throws not_reachable when the service has ended', async () => {
    const { client, stop } = await startUsagePlans({ clock });
    await stop();
    await expect(client.flushAuthorizerCache()).rejects.toMatchObject({ code: 'not_reachable' });
  });
});
