import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { useApiGateway } from '#test/local/api-gateway/use-api-gateway.ts';

const DAY_MS = Date.parse('2026-11-21T10:00:00Z');

let nowMs: number;
const apiGateway = useApiGateway({ clock: () => nowMs });
let usagePlans: UsagePlans;
beforeEach(() => {
  nowMs = DAY_MS;
  ({ usagePlans } = apiGateway());
});

const recordUse = ({ value }: GatewayKey, day: string): void => {
  nowMs = Date.parse(`${day}T10:00:00Z`);
  apiGateway().simulator.recordUse(value);
};

let made = 0;
const newKey = (name = 'stage-key') => {
  made += 1;
  return { name: `${name}${made}`, value: `${'v'.repeat(30)}${made}`, enabled: true };
};

describe('the adapter', () => {
  it('returns the existing key when the same key is created again', async () => {
    const wanted = newKey();
    const first = await usagePlans.createKey(wanted);
    const again = await usagePlans.createKey(wanted);
    expect(again).toEqual(first);
    expect(await Array.fromAsync(usagePlans.listKeys('stage-'))).toMatchObject([{ ...wanted, id: first.id }]);
  });

  it('lists the keys with the prefix, and counts all keys', async () => {
    const created = [];
    for (let count = 0; count < 30; count += 1) created.push(await usagePlans.createKey(newKey()));
    await usagePlans.createKey(newKey('other-'));
    expect(await Array.fromAsync(usagePlans.listKeys('stage-'))).toMatchObject(created);
    expect(await usagePlans.countKeys(10)).toBe(10);
    expect(await usagePlans.countKeys(100)).toBe(31);
  });

  it('attaches twice, detaches twice and deletes twice without an error', async () => {
    const { id, name } = await usagePlans.createKey(newKey());
    await usagePlans.attach(id, 'free');
    await usagePlans.attach(id, 'free');
    expect(await Array.fromAsync(usagePlans.listMembers('free'))).toEqual([{ id, name }]);
    await usagePlans.detach(id, 'free');
    await usagePlans.detach(id, 'free');
    expect(await Array.fromAsync(usagePlans.listMembers('free'))).toEqual([]);
    await usagePlans.deleteKey(id);
    await usagePlans.deleteKey(id);
    expect(await Array.fromAsync(usagePlans.listKeys('stage-'))).toEqual([]);
  });

  it('refuses a second plan of the stage for a key', async () => {
    const { id } = await usagePlans.createKey(newKey());
    await usagePlans.attach(id, 'free');
    await expect(usagePlans.attach(id, 'professional')).rejects.toThrow(/plan/i);
    expect(await Array.fromAsync(usagePlans.listMembers('professional'))).toEqual([]);
  });

  it('takes a deleted key out of its plan', async () => {
    const { id } = await usagePlans.createKey(newKey());
    await usagePlans.attach(id, 'free');
    await usagePlans.deleteKey(id);
    expect(await Array.fromAsync(usagePlans.listMembers('free'))).toEqual([]);
  });

  it('disables and enables a key', async () => {
    const { id } = await usagePlans.createKey(newKey());
    await usagePlans.setEnabled(id, false);
    expect((await Array.fromAsync(usagePlans.listKeys('stage-')))[0]?.enabled).toBe(false);
    await usagePlans.setEnabled(id, true);
    expect((await Array.fromAsync(usagePlans.listKeys('stage-')))[0]?.enabled).toBe(true);
    await expect(usagePlans.setEnabled('nosuchkey', true)).rejects.toThrow();
  });

  it('returns the requests of each day that has any', async () => {
    const key = await usagePlans.createKey(newKey());
    await usagePlans.attach(key.id, 'free');
    recordUse(key, '2026-11-19');
    recordUse(key, '2026-11-21');
    recordUse(key, '2026-11-21');
    expect(await usagePlans.usage(key.id, 'free', '2026-11-18', '2026-11-21')).toEqual([
      { day: '2026-11-19', requests: 1 },
      { day: '2026-11-21', requests: 2 },
    ]);
    expect(await usagePlans.usage(key.id, 'free', '2026-11-20', '2026-11-20')).toEqual([]);
  });

  it('returns no requests for a plan that the key is not in, nor for a deleted key', async () => {
    const key = await usagePlans.createKey(newKey());
    await usagePlans.attach(key.id, 'free');
    expect(await usagePlans.usage(key.id, 'professional', '2026-11-20', '2026-11-21')).toEqual([]);
    await usagePlans.deleteKey(key.id);
    expect(await usagePlans.usage(key.id, 'free', '2026-11-20', '2026-11-21')).toEqual([]);
  });

  it('flushes the authorizer cache', async () => {
    let flushes = 0;
    apiGateway().simulator.onFlush(() => {
      flushes += 1;
    });
    await usagePlans.flushAuthorizerCache();
    expect(flushes).toBe(1);
  });

  it('creates each key once when API Gateway throttles the calls', async () => {
    apiGateway().fail('throttled', 'throttled');
    const keys = [newKey(), newKey(), newKey()];
    await Promise.all(keys.map(usagePlans.createKey));
    expect((await apiGateway().keys()).map(({ value }) => value).sort()).toEqual(
      keys.map(({ value }) => value).sort(),
    );
  });

  it('creates a key, attaches it and deletes it once when each response is lost', async () => {
    const wanted = newKey();
    apiGateway().fail('response lost');
    const created = await usagePlans.createKey(wanted);
    expect(await apiGateway().keys()).toMatchObject([{ ...wanted, id: created.id }]);
    apiGateway().fail('response lost');
    await usagePlans.attach(created.id, 'free');
    expect(apiGateway().simulator.throttleOf(wanted.value)).toEqual(usagePlanThrottle('free'));
    apiGateway().fail('response lost');
    await usagePlans.deleteKey(created.id);
    expect(await apiGateway().keys()).toEqual([]);
  });
});
