import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import { startApiGateway } from '#test/api-gateway/start.ts';
import { fakeUsagePlans } from '#test/fakes/usage-plans.ts';
import { startUsagePlans } from '#test/local/usage-plans/start.ts';

interface Subject {
  readonly usagePlans: UsagePlans;
  readonly flushes: () => number;
  recordUse(key: GatewayKey, day: string): void;
  stop(): Promise<void>;
}

const DAY = '2026-11-21';

const subjects: Record<string, () => Promise<Subject>> = {
  'the fake': async () => {
    const fake = fakeUsagePlans();
    return {
      usagePlans: fake,
      flushes: fake.flushes,
      recordUse: ({ id }, day) => fake.recordUse(id, day),
      stop: async () => {},
    };
  },
  'the adapter, over a simulated API Gateway': async () => {
    let day = DAY;
    const { simulator, usagePlans, stop } = await startApiGateway({
      now: () => Date.parse(`${day}T10:00:00Z`),
    });
    return {
      usagePlans,
      flushes: simulator.flushes,
      recordUse: ({ value }, on) => {
        day = on;
        simulator.recordUse(value);
      },
      stop,
    };
  },
  'the local store, over its endpoint': async () => {
    let flushes = 0;
    let day = DAY;
    const { store, client, stop } = await startUsagePlans({ clock: () => Date.parse(`${day}T10:00:00Z`) });
    store.onFlush(() => {
      flushes += 1;
    });
    return {
      usagePlans: client,
      flushes: () => flushes,
      recordUse: ({ value }, on) => {
        day = on;
        store.recordUse(value);
      },
      stop,
    };
  },
};

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

let made = 0;
const newKey = (name = 'stage-key') => {
  made += 1;
  return { name: `${name}${made}`, value: `${'v'.repeat(30)}${made}`, enabled: true };
};

describe.each(Object.entries(subjects))('%s', (_name, start) => {
  let subject: Subject;
  beforeEach(async () => {
    subject = await start();
  });
  afterEach(() => subject.stop());

  it('returns the existing key when the same key is created again', async () => {
    const wanted = newKey();
    const first = await subject.usagePlans.createKey(wanted);
    const again = await subject.usagePlans.createKey(wanted);
    expect(again).toEqual(first);
    expect(await all(subject.usagePlans.listKeys('stage-'))).toEqual([{ ...wanted, id: first.id }]);
  });

  it('lists the keys with the prefix, and counts all keys', async () => {
    const created = [];
    for (let count = 0; count < 30; count += 1) created.push(await subject.usagePlans.createKey(newKey()));
    await subject.usagePlans.createKey(newKey('other-'));
    expect(await all(subject.usagePlans.listKeys('stage-'))).toEqual(created);
    expect(await subject.usagePlans.countKeys(10)).toBe(10);
    expect(await subject.usagePlans.countKeys(100)).toBe(31);
  });

  it('attaches twice, detaches twice and deletes twice without an error', async () => {
    const { usagePlans } = subject;
    const { id, name } = await usagePlans.createKey(newKey());
    await usagePlans.attach(id, 'free');
    await usagePlans.attach(id, 'free');
    expect(await all(usagePlans.listMembers('free'))).toEqual([{ id, name }]);
    await usagePlans.detach(id, 'free');
    await usagePlans.detach(id, 'free');
    expect(await all(usagePlans.listMembers('free'))).toEqual([]);
    await usagePlans.deleteKey(id);
    await usagePlans.deleteKey(id);
    expect(await all(usagePlans.listKeys('stage-'))).toEqual([]);
  });

  it('refuses a second plan of the stage for a key', async () => {
    const { id } = await subject.usagePlans.createKey(newKey());
    await subject.usagePlans.attach(id, 'free');
    await expect(subject.usagePlans.attach(id, 'professional')).rejects.toThrow(/plan/i);
    expect(await all(subject.usagePlans.listMembers('professional'))).toEqual([]);
  });

  it('takes a deleted key out of its plan', async () => {
    const { id } = await subject.usagePlans.createKey(newKey());
    await subject.usagePlans.attach(id, 'free');
    await subject.usagePlans.deleteKey(id);
    expect(await all(subject.usagePlans.listMembers('free'))).toEqual([]);
  });

  it('disables and enables a key', async () => {
    const { id } = await subject.usagePlans.createKey(newKey());
    await subject.usagePlans.setEnabled(id, false);
    expect((await all(subject.usagePlans.listKeys('stage-')))[0]?.enabled).toBe(false);
    await subject.usagePlans.setEnabled(id, true);
    expect((await all(subject.usagePlans.listKeys('stage-')))[0]?.enabled).toBe(true);
    await expect(subject.usagePlans.setEnabled('nosuchkey', true)).rejects.toThrow();
  });

  it('returns the requests of each day that has any', async () => {
    const key = await subject.usagePlans.createKey(newKey());
    await subject.usagePlans.attach(key.id, 'free');
    subject.recordUse(key, '2026-11-19');
    subject.recordUse(key, '2026-11-21');
    subject.recordUse(key, '2026-11-21');
    expect(await subject.usagePlans.usage(key.id, 'free', '2026-11-18', '2026-11-21')).toEqual([
      { day: '2026-11-19', requests: 1 },
      { day: '2026-11-21', requests: 2 },
    ]);
    expect(await subject.usagePlans.usage(key.id, 'free', '2026-11-20', '2026-11-20')).toEqual([]);
  });

  it('returns no requests for a plan that the key is not in, nor for a deleted key', async () => {
    const key = await subject.usagePlans.createKey(newKey());
    await subject.usagePlans.attach(key.id, 'free');
    expect(await subject.usagePlans.usage(key.id, 'professional', '2026-11-20', '2026-11-21')).toEqual([]);
    await subject.usagePlans.deleteKey(key.id);
    expect(await subject.usagePlans.usage(key.id, 'free', '2026-11-20', '2026-11-21')).toEqual([]);
  });

  it('flushes the authorizer cache', async () => {
    await subject.usagePlans.flushAuthorizerCache();
    expect(subject.flushes()).toBe(1);
  });
});
