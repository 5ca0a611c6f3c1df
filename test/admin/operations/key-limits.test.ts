import { rotateKey } from '#admin/operations/change-key.ts';
import { readKeyLimits, readLastUsedDays, setKeyLimits } from '#admin/operations/key-limits.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { KEY_LIMIT_NAMES, KEY_LIMITS, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Awaited<ReturnType<(typeof deployment)['issued']>>;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  deployment.clock.advance(1);
});

const limits = () => readKeyLimits(deployment.admin, issued.key.key_id);

const limitsOfSecret = async (secret: string) =>
  (await keySecretStore(deployment.table).findSecret(hashApiKey(secret)))?.limits;

describe('the limits of a key', () => {
  it('lists the limit per minute and every hourly and daily limit of the plan', async () => {
    const listed = await limits();
    expect(listed.map(({ name, limit }) => [name, limit])).toEqual([
      ['free', PLANS.free.requestsPerMinute],
      ...KEY_LIMIT_NAMES.map((name) => [name, KEY_LIMITS[name].byPlan.free]),
    ]);
    expect(listed.map(({ used, isOverridden }) => [used, isOverridden])).toEqual(
      listed.map(() => [0, false]),
    );
  });

  it('lists the higher limits of a stage whose registry is the sandbox', async () => {
    const admin = { ...deployment.admin, registryIsSandbox: true };
    const listed = await readKeyLimits(admin, issued.key.key_id);
    expect(listed.map(({ limit }) => limit)).toEqual([100, 100, 1000, 10_000, 50_000, 100]);
  });

  it('shows what the key has used of a limit, what remains and when the window ends', async () => {
    deployment.clock.set('2026-11-21T10:20:00Z');
    const counted = keyLimit('sms-per-hour', { keyId: issued.key.key_id, plan: 'free', limits: {} });
    await limiterOn(deployment.table).increment(counted, deployment.clock());
    await limiterOn(deployment.table).increment(counted, deployment.clock());
    expect(await limits()).toContainEqual({
      name: 'sms-per-hour',
      limit: 100,
      used: 2,
      remaining: 98,
      resetSeconds: 2400,
      isOverridden: false,
    });
  });

  it('shows what was used of a limit that was lowered since', async () => {
    const { key_id: keyId } = issued.key;
    const counted = keyLimit('sms-per-hour', { keyId, plan: 'free', limits: {} });
    for (const _ of [1, 2, 3]) await limiterOn(deployment.table).increment(counted, deployment.clock());
    await setKeyLimits(deployment.admin, keyId, { set: { 'sms-per-hour': 0 }, unset: [] });
    const expected = { name: 'sms-per-hour', limit: 0, used: 3, remaining: 0 };
    expect(await limits()).toContainEqual(expect.objectContaining(expected));
  });

  it('shows the day (UTC) of the latest request of each key, in the order of the keys', async () => {
    const limiter = limiterOn(deployment.table);
    const times = ['2026-11-19T23:30:00Z', '2026-11-20T00:00:00Z', '2026-11-21T10:00:00Z'];
    for (const [index, time] of times.entries())
      await limiter.increment(minuteLimit({ keyId: `key_${index}`, plan: 'free' }), Date.parse(time));
    await limiter.increment(minuteLimit({ keyId: 'key_2', plan: 'free' }), Date.parse(times[0] ?? ''));
    const checks = keyLimit('paid-checks-per-day', { keyId: 'key_0', plan: 'free', limits: {} });
    await limiter.increment(checks, Date.parse('2026-11-21T10:00:00Z'));
    deployment.clock.set('2026-11-21T10:20:00Z');
    expect(await readLastUsedDays(deployment.admin, ['key_2', 'key_never', 'key_0', 'key_1'])).toEqual([
      '2026-11-21',
      null,
      '2026-11-19',
      '2026-11-20',
    ]);
  });

  it('shows the latest use of more keys than are read at the same time', async () => {
    const keyIds = Array.from({ length: 120 }, (_, index) => `key_${index}`);
    const used = ['key_0', 'key_49', 'key_50', 'key_119'];
    const limiter = limiterOn(deployment.table);
    for (const keyId of used)
      await limiter.increment(minuteLimit({ keyId, plan: 'free' }), deployment.clock());
    expect(await readLastUsedDays(deployment.admin, keyIds)).toEqual(
      keyIds.map((keyId) => (used.includes(keyId) ? '2026-11-21' : null)),
    );
  });

  it.each([
    ['2026-10-17T11:00:00Z', '2026-10-17'],
    ['2026-10-17T10:59:59Z', null],
  ])('looks 35 times 24 hours back for the latest use: of a request at %s it shows %s', async (time, day) => {
    const { key_id: keyId } = issued.key;
    await limiterOn(deployment.table).increment(minuteLimit({ keyId, plan: 'free' }), Date.parse(time));
    deployment.clock.set('2026-11-21T10:59:59Z');
    expect(await readLastUsedDays(deployment.admin, [keyId])).toEqual([day]);
  });

  it('reads the latest use of a key in one query of one item', async () => {
    const { key_id: keyId } = issued.key;
    for (const time of ['09:00', '10:00'])
      await limiterOn(deployment.table).increment(
        minuteLimit({ keyId, plan: 'free' }),
        Date.parse(`2026-11-21T${time}:00Z`),
      );
    const queries: unknown[] = [];
    const watched = interceptedTable(deployment.table, async ({ name }, send) => {
      const result = (await send()) as { readonly Items?: readonly unknown[] };
      queries.push([name, result.Items?.length]);
      return result;
    });
    await readLastUsedDays({ ...deployment.admin, table: watched }, [keyId]);
    expect(queries).toEqual([['QueryCommand', 1]]);
  });

  it('overrides limits of one key, in the key and in all its secrets', async () => {
    const { secret } = await rotateKey(deployment.admin, issued.key.key_id, 3600);
    await setKeyLimits(deployment.admin, issued.key.key_id, {
      set: { 'sms-per-hour': 10_000, 'paid-checks-per-day': 0 },
      unset: [],
    });
    const expected = { 'sms-per-hour': 10_000, 'paid-checks-per-day': 0 };
    expect(await limitsOfSecret(issued.secret)).toEqual(expected);
    expect(await limitsOfSecret(secret)).toEqual(expected);
    expect(await limits()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'sms-per-hour', limit: 10_000, isOverridden: true }),
        expect.objectContaining({ name: 'paid-checks-per-day', remaining: 0, isOverridden: true }),
        expect.objectContaining({ name: 'failed-checks-per-hour', limit: 10, isOverridden: false }),
      ]),
    );
  });

  it('replaces an override beside another, and restores the number of the plan when one is removed', async () => {
    const { key_id } = issued.key;
    await setKeyLimits(deployment.admin, key_id, {
      set: { 'sms-per-hour': 1, 'paid-checks-per-day': 2 },
      unset: [],
    });
    await setKeyLimits(deployment.admin, key_id, { set: { 'sms-per-hour': 3 }, unset: [] });
    expect(await limitsOfSecret(issued.secret)).toEqual({ 'sms-per-hour': 3, 'paid-checks-per-day': 2 });
    await setKeyLimits(deployment.admin, key_id, { set: {}, unset: ['sms-per-hour'] });
    expect(await limitsOfSecret(issued.secret)).toEqual({ 'paid-checks-per-day': 2 });
    await setKeyLimits(deployment.admin, key_id, { set: {}, unset: ['paid-checks-per-day'] });
    expect(await limitsOfSecret(issued.secret)).toBeUndefined();
    expect((await deployment.admin.keys.find(key_id))?.limits).toBeUndefined();
  });
});
