import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';

const apiGateway = useApiGateway();

let made = 0;
const newKey = (name = 'stage-key') => {
  made += 1;
  return { name: `${name}${made}`, value: `${'v'.repeat(30)}${made}`, enabled: true };
};

describe('the usage plans of API Gateway', () => {
  let usagePlans: UsagePlans;
  beforeEach(() => {
    ({ usagePlans } = apiGateway());
  });

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
    const listed = await Array.fromAsync(usagePlans.listKeys('stage-'));
    expect(listed.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
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

  it('refuses a key whose value another key has', async () => {
    const key = await usagePlans.createKey(newKey());
    await expect(usagePlans.createKey({ ...key, name: 'another' })).rejects.toThrow();
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

it('the authorizer cache of API Gateway is flushed by each flush', async () => {
  let flushes = 0;
  apiGateway().simulator.onFlush(() => {
    flushes += 1;
  });
  await apiGateway().authorizerCache.flush();
  expect(flushes).toBe(1);
});
