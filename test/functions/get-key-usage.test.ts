import { KEY_LIMIT_NAMES, type KeyLimitName, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type OwnKey, timedOut, useOwnKey } from './own-key-under-test.ts';

const newOwnKey = useOwnKey();
let own: OwnKey;
beforeEach(async () => {
  own = await newOwnKey();
});

const limited = (keyId: string) => ({ keyId, plan: 'free', limits: {} }) as const;

/** Counts requests and other uses of a key at a time. */
const count = async (
  at: string,
  requests: number,
  uses: readonly KeyLimitName[] = [],
  keyId = own.authorizer.keyId,
) => {
  const limiter = limiterOn(own.administration.table);
  const caller = limited(keyId);
  for (let sent = 0; sent < requests; sent += 1) {
    await limiter.increment(minuteLimit(caller), Date.parse(at) + sent * 60_000);
  }
  for (const name of uses) await limiter.increment(keyLimit(name, caller), Date.parse(at));
};

const usage = async (query?: Record<string, string>) =>
  own.getKeyUsage().call({ authorizer: own.authorizer, ...(query && { query }) });

/** The hours before the current one. Whether a request finds its own count is undefined: the two run beside each other. */
const past = (data: readonly { readonly hour: string }[]) =>
  data.filter(({ hour }) => hour !== '2026-11-21T10:00:00Z');

describe('200', () => {
  it('returns the counts of each hour and the paid checks of each day, oldest first', async () => {
    await count('2026-11-21T08:00:00Z', 3, [...KEY_LIMIT_NAMES, 'sms-per-hour', 'paid-checks-per-day']);
    await count('2026-11-20T23:30:00Z', 1, ['paid-checks-per-day']);
    await count('2026-11-21T08:00:00Z', 9, ['sms-per-hour'], 'key_other');
    const { status, json } = await usage();
    const none = { refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };
    expect([status, past(json.data), json.paid_checks]).toEqual([
      200,
      [
        { hour: '2026-11-20T23:00:00Z', requests: 1, ...none },
        {
          hour: '2026-11-21T08:00:00Z',
          requests: 3,
          refused_links: 1,
          failed_checks: 1,
          sms: 2,
          failed_verifies: 1,
        },
      ],
      [
        { day: '2026-11-20', count: 1 },
        { day: '2026-11-21', count: 2 },
      ],
    ]);
  });

  it('returns the hours of days times 24 hours, the current hour included, and no earlier one', async () => {
    await count('2026-11-20T10:59:59Z', 1, ['paid-checks-per-day']);
    await count('2026-11-20T11:00:00Z', 1);
    await count('2026-11-21T10:00:00Z', 1);
    const hours = async (days: string) =>
      (await usage({ days })).json.data.map(({ hour }: { hour: string }) => hour);
    expect(await hours('1')).toEqual(['2026-11-20T11:00:00Z', '2026-11-21T10:00:00Z']);
    expect(await hours('2')).toEqual([
      '2026-11-20T10:00:00Z',
      '2026-11-20T11:00:00Z',
      '2026-11-21T10:00:00Z',
    ]);
  });

  it('returns at 23:30 the hours and the paid checks of this day alone for one day', async () => {
    own.administration.clock.set('2026-11-21T23:30:00Z');
    await count('2026-11-20T23:30:00Z', 1, ['paid-checks-per-day']);
    await count('2026-11-21T00:15:00Z', 1, ['paid-checks-per-day', 'paid-checks-per-day']);
    const { json } = await usage({ days: '1' });
    expect([json.data[0].hour, json.paid_checks]).toEqual([
      '2026-11-21T00:00:00Z',
      [{ day: '2026-11-21', count: 2 }],
    ]);
  });

  it('returns at 00:30 the hours since 01:00 of the day before, and the paid checks of both days', async () => {
    own.administration.clock.set('2026-11-22T00:30:00Z');
    await count('2026-11-20T23:30:00Z', 1, ['paid-checks-per-day']);
    await count('2026-11-21T00:15:00Z', 1, ['paid-checks-per-day']);
    await count('2026-11-21T01:15:00Z', 1, ['paid-checks-per-day']);
    await count('2026-11-22T00:15:00Z', 1, ['paid-checks-per-day']);
    const { json } = await usage({ days: '1' });
    expect([json.data.map(({ hour }: { hour: string }) => hour), json.paid_checks]).toEqual([
      ['2026-11-21T01:00:00Z', '2026-11-22T00:00:00Z'],
      [
        { day: '2026-11-21', count: 2 },
        { day: '2026-11-22', count: 1 },
      ],
    ]);
  });

  it('reaches back 35 days, and the count of an hour is kept that long after it', async () => {
    await count('2026-10-17T11:00:00Z', 1, ['paid-checks-per-day']);
    const { json } = await usage({ days: '35' });
    expect(json.data[0].hour).toBe('2026-10-17T11:00:00Z');
    expect(json.paid_checks).toEqual([{ day: '2026-10-17', count: 1 }]);
  });

  it('leaves out an hour whose counts were all refunded', async () => {
    const limit = keyLimit('sms-per-hour', limited(own.authorizer.keyId));
    const limiter = limiterOn(own.administration.table);
    const nowMs = Date.parse('2026-11-21T08:00:00Z');
    await limiter.increment(limit, nowMs);
    await limiter.decrement(limit, nowMs);
    expect(past((await usage()).json.data)).toEqual([]);
  });
});

describe('422', () => {
  it('names days that are no integer from 1 to 35', async () => {
    for (const days of ['0', '36', '1.5', '-1', 'seven', '']) {
      const { status, json } = await usage({ days });
      expect([days, status, json.errors]).toEqual([
        days,
        422,
        [{ parameter: 'days', code: 'invalid', detail: 'Must be an integer from 1 to 35.' }],
      ]);
    }
  });
});

describe('503', () => {
  it('is service_unavailable if the history cannot be read', async () => {
    const broken = interceptedTable(own.administration.table, ({ name }, send) =>
      name === 'QueryCommand' ? Promise.reject(timedOut) : send(),
    );
    const { status, json } = await own.getKeyUsage(broken).call({ authorizer: own.authorizer });
    expect([status, json.code]).toEqual([503, 'service_unavailable']);
  });
});
