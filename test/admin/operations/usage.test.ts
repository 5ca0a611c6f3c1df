import { revokeKey } from '#admin/operations/change-key.ts';
import { readMostUsed, readUseOf } from '#admin/operations/usage.ts';
import { type KeyLimitName, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
  deployment.clock.set('2026-11-22T10:20:00Z');
});

const request = (keyId: string, time: string) =>
  limiterOn(deployment.table).increment(minuteLimit({ keyId, plan: 'free' }), Date.parse(time));

const count = (name: KeyLimitName, keyId: string, time: string) =>
  limiterOn(deployment.table).increment(
    keyLimit(name, { keyId, plan: 'free', limits: {} }),
    Date.parse(time),
  );

const NOTHING = { requests: 0, refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };

describe('readUseOf', () => {
  it('adds up the hours and days of several keys, the oldest first', async () => {
    await request('key_1', '2026-11-22T09:00:00Z');
    await request('key_2', '2026-11-22T09:30:00Z');
    await request('key_2', '2026-11-21T09:30:00Z');
    await count('sms-per-hour', 'key_1', '2026-11-22T09:59:00Z');
    await count('failed-verifies-per-hour', 'key_2', '2026-11-22T10:00:00Z');
    for (const keyId of ['key_1', 'key_2']) await count('paid-checks-per-day', keyId, '2026-11-22T00:00:00Z');
    await count('paid-checks-per-day', 'key_2', '2026-11-20T00:00:00Z');
    expect(await readUseOf(deployment.admin, ['key_1', 'key_2', 'key_unused'], 3)).toEqual({
      data: [
        { ...NOTHING, hour: '2026-11-21T09:00:00Z', requests: 1 },
        { ...NOTHING, hour: '2026-11-22T09:00:00Z', requests: 2, sms: 1 },
        { ...NOTHING, hour: '2026-11-22T10:00:00Z', failed_verifies: 1 },
      ],
      paid_checks: [
        { day: '2026-11-20', count: 1 },
        { day: '2026-11-22', count: 2 },
      ],
    });
  });

  it('reads more keys than are read at the same time', async () => {
    const keyIds = Array.from({ length: 60 }, (_, index) => `key_${index}`);
    for (const keyId of keyIds) await request(keyId, '2026-11-22T09:00:00Z');
    expect((await readUseOf(deployment.admin, keyIds, 1)).data).toMatchObject([{ requests: 60 }]);
  });
});

describe('readMostUsed', () => {
  it('returns the keys of all sellers with most requests, revoked ones too, and none that was not used', async () => {
    const [first, second, paying, unused] = [
      await deployment.issued(),
      await deployment.issued(),
      await deployment.issued(),
      await deployment.issued(),
    ].map(({ key }) => key.key_id) as [string, string, string, string];
    await request(first, '2026-11-22T09:00:00Z');
    for (const time of ['09:00', '10:00']) await request(second, `2026-11-22T${time}:00Z`);
    await request(unused, '2026-11-10T09:00:00Z');
    await count('paid-checks-per-day', paying, '2026-11-22T00:00:00Z');
    await revokeKey(deployment.admin, second);
    const found = async (limit: number) =>
      (await readMostUsed(deployment.admin, { days: 7, count: limit })).map(({ key, use }) => [
        key.key_id,
        use,
      ]);
    const expected = [
      [second, { ...NOTHING, requests: 2, paid_checks: 0 }],
      [first, { ...NOTHING, requests: 1, paid_checks: 0 }],
      [paying, { ...NOTHING, paid_checks: 1 }],
    ];
    expect(await found(20)).toEqual(expected);
    expect(await found(2)).toEqual(expected.slice(0, 2));
  });
});
