import type { UsagePlans } from '#admin/usage-plans/port.ts';
import { ensureTable } from '#local/database.ts';
import { localUsagePlans, usagePlansTable } from '#local/usage-plans.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Table } from '#shared/table/client.ts';
import { useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { useTable } from '#test/table/use-table.ts';

const database = useTable();
const apiGateway = useApiGateway();
let tables = 0;

/** The usage plans under test, and the gateway's view of them. */
interface Implementation {
  readonly usagePlans: UsagePlans;
  readonly gateway: {
    throttleOf(usageId: string): object | undefined | Promise<object | undefined>;
    flushes(): number | Promise<number>;
  };
}

const IMPLEMENTATIONS: Readonly<Record<string, () => Implementation | Promise<Implementation>>> = {
  'the adapter of API Gateway'() {
    const { usagePlans, simulator } = apiGateway();
    let flushes = 0;
    simulator.onFlush(() => {
      flushes += 1;
    });
    return { usagePlans, gateway: { ...simulator, flushes: () => flushes } };
  },
  async 'the table of npm start'() {
    tables += 1;
    const table: Table = usagePlansTable({ client: database.client, name: `t${tables}` });
    await ensureTable(table);
    const usagePlans = localUsagePlans(table);
    return { usagePlans, gateway: usagePlans };
  },
};

let made = 0;
const newKey = (name = 'stage-key') => {
  made += 1;
  return { name: `${name}${made}`, value: `${'v'.repeat(30)}${made}`, enabled: true };
};

describe.each(Object.entries(IMPLEMENTATIONS))('%s', (_name, open) => {
  let usagePlans: UsagePlans;
  let gateway: Implementation['gateway'];
  beforeEach(async () => {
    ({ usagePlans, gateway } = await open());
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

  it('lets the gateway see a throttle only while the key is enabled and in a plan', async () => {
    const { id, value } = await usagePlans.createKey(newKey());
    expect(await gateway.throttleOf(value)).toBeUndefined();
    await usagePlans.attach(id, 'free');
    expect(await gateway.throttleOf(value)).toEqual(usagePlanThrottle('free'));
    await usagePlans.setEnabled(id, false);
    expect(await gateway.throttleOf(value)).toBeUndefined();
    await usagePlans.setEnabled(id, true);
    await usagePlans.detach(id, 'free');
    await usagePlans.attach(id, 'professional');
    expect(await gateway.throttleOf(value)).toEqual(usagePlanThrottle('professional'));
    await usagePlans.deleteKey(id);
    expect(await gateway.throttleOf(value)).toBeUndefined();
  });

  it('refuses a key whose value another key has', async () => {
    const key = await usagePlans.createKey(newKey());
    await expect(usagePlans.createKey({ ...key, name: 'another' })).rejects.toThrow();
  });

  it('flushes the authorizer cache', async () => {
    const before = await gateway.flushes();
    await usagePlans.flushAuthorizerCache();
    expect(await gateway.flushes()).toBe(before + 1);
  });
});

describe('the adapter of API Gateway', () => {
  let usagePlans: UsagePlans;
  beforeEach(() => {
    ({ usagePlans } = apiGateway());
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
