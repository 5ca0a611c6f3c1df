/** What each refusal of a one-time code counts of a key and which headers it has. */
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { newPerson } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { testHashes } from './create-user-deps.ts';
import { callerContext, type Reply } from './harness.ts';
import { COUNTED, limitOfOne, outcomeOf, usedUp } from './outcome.ts';
import { sendOtpOn } from './send-otp-under-test.ts';
import { RIGHT, verifyOtpOn, WRONG } from './verify-otp-under-test.ts';

const table = useTable();

const keyOf = (name: string) => ({
  ...callerContext,
  keyId: `key_${name}`,
  sellerId: 'sel_a',
  scopes: 'users:read',
});

describe('verify-otp: a sign-in', () => {
  it.each([
    ['with a wrong code counts as a failed verify', true, 1],
    ['without a code counts as none, though the same write was sent', false, 0],
  ])('%s', async (_title, isSent, failures) => {
    const { phone } = newPerson();
    const key = keyOf(`verify_${failures}`);
    const { send, verify, clock } = verifyOtpOn(table);
    if (isSent) await send(phone, 'sel_a');
    const reply = await verify(phone, WRONG, key);
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 422,
      code: 'code_rejected',
      counts: { minute_0: 1, 'failed-verifies-per-hour': failures },
    });
  });

  it('with the right code, beside another one that used it up first, counts as no failure of the key or the phone', async () => {
    const bothTried = Promise.withResolvers<void>();
    let tried = 0;
    const together = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand') {
        tried += 1;
        if (tried === 2) bothTried.resolve();
        await bothTried.promise;
      }
      return send();
    });
    const { phone } = newPerson();
    const key = keyOf('twice');
    const { send, verify, record, clock } = verifyOtpOn(table, { on: together });
    await send(phone, 'sel_a');
    const replies = await Promise.all([verify(phone, RIGHT, key), verify(phone, RIGHT, key)]);
    const [redeemed, rejected] = replies.toSorted((one, other) => one.status - other.status);
    expect(redeemed?.status).toBe(200);
    const { code, counts } = await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, rejected as Reply);
    expect([code, counts]).toEqual(['code_rejected', { minute_0: 2 }]);
    expect((await record(phone, 'sel_a')).failures).toBe(0);
  });

  it.each([
    ['a seller, after one code', 'users:read', 1, '60'],
    ['the buyer app, after ten codes', 'buyers:register', 10, '3600'],
  ])(
    'of a phone without tries left counts as a request only: %s',
    async (title, scopes, codes, retryAfter) => {
      const { phone } = newPerson();
      const key = { ...keyOf(title), scopes };
      const { send, verify, clock } = verifyOtpOn(table);
      for (let sent = 0; sent < codes; sent += 1) {
        if (sent > 0) clock.advance(120);
        await send(phone, 'sel_a');
      }
      for (let tries = 0; tries < 5; tries += 1) await verify(phone, WRONG, { ...keyOf('five'), scopes });
      const reply = await verify(phone, RIGHT, key);
      expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
        ...COUNTED,
        status: 429,
        code: 'too_many_attempts',
        retryAfter,
        counts: { [`minute_${2 * (codes - 1)}`]: 1 },
      });
    },
  );

  it('over failed-verifies-per-hour, of a phone without tries left, is refused by the limit of the key', async () => {
    const { phone } = newPerson();
    const key = { ...keyOf('both'), ...limitOfOne('failed-verifies-per-hour') };
    const { send, verify, clock } = verifyOtpOn(table);
    await send(phone, 'sel_a');
    for (let tries = 0; tries < 5; tries += 1) await verify(phone, WRONG, keyOf('five_more'));
    const other = newPerson().phone;
    await send(other, 'sel_a');
    await verify(other, WRONG, key);
    const { code, counts } = await outcomeOf(
      table,
      { keyId: key.keyId, nowMs: clock() },
      await verify(phone, RIGHT, key),
    );
    expect([code, counts]).toEqual(['rate_limit_exceeded', { minute_0: 2, 'failed-verifies-per-hour': 1 }]);
  });

  it('over failed-verifies-per-hour counts as a request only, and tries no code', async () => {
    const { phone } = newPerson();
    const key = { ...keyOf('over'), ...limitOfOne('failed-verifies-per-hour') };
    const { send, verify, record, clock } = verifyOtpOn(table);
    await send(phone, 'sel_a');
    await verify(phone, WRONG, key);
    const over = await outcomeOf(
      table,
      { keyId: key.keyId, nowMs: clock() },
      await verify(phone, RIGHT, key),
    );
    expect(over).toEqual({
      ...usedUp('failed-verifies-per-hour'),
      rateLimit: '"professional";r=998;t=60, "failed-verifies-per-hour";r=0;t=3600',
      counts: { minute_0: 2, 'failed-verifies-per-hour': 1 },
    });
    expect((await record(phone, 'sel_a')).failures).toBe(1);
  });
});

/** The messages to a phone that are counted over all sellers. */
const messagesTo = async (phone: string, nowMs: number): Promise<number> => {
  const limit = phoneLimit('sms', await testHashes.phone(phone));
  const { remaining } = await limiterOn(table).increment(limit, nowMs, 0);
  return limit.limit - remaining;
};

describe('send-otp: a send', () => {
  it('within the cool-down counts as a request only, and no message over all sellers', async () => {
    const { phone } = newPerson();
    const { send, clock } = sendOtpOn(table);
    await send(phone, keyOf('first_send'));
    const key = keyOf('second_send');
    const reply = await send(phone, key);
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 429,
      code: 'resend_too_soon',
      retryAfter: '60',
      counts: { minute_0: 1 },
    });
    expect(await messagesTo(phone, clock())).toBe(1);
  });

  it('over sms-per-hour is refused by the limit of the key, also within the cool-down of the phone', async () => {
    const [phone, other] = [newPerson().phone, newPerson().phone];
    const key = { ...keyOf('sms_over'), ...limitOfOne('sms-per-hour') };
    const { send, clock } = sendOtpOn(table);
    await send(phone, key);
    const codes = [await send(phone, key), await send(other, key)].map(({ json }) => json.code);
    expect(codes).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded']);
    const last = await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, await send(other, key));
    expect(last).toEqual({
      ...usedUp('sms-per-hour'),
      rateLimit: '"professional";r=996;t=60, "sms-per-hour";r=0;t=3600',
      counts: { minute_0: 4, 'sms-per-hour': 1 },
    });
  });

  it.each([
    ['possibly_sent', 1, 1],
    ['not_sent', 1, 0],
    ['not_reached', 0, 0],
  ] as const)(
    'that a provider did not accept (%s) leaves %i messages of the key counted, and %i of the phone',
    async (delivery, messages, ofPhone) => {
      const { phone } = newPerson();
      const key = keyOf(delivery);
      const { send, provider, clock } = sendOtpOn(table);
      provider.failure = new ProviderUnavailable({ provider: 'first', operation: 'send_code' }, 'balance', {
        delivery,
      });
      const reply = await send(phone, key);
      expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toMatchObject({
        status: 503,
        code: 'sms_unavailable',
        rateLimit: COUNTED.rateLimit,
        counts: { minute_0: 1, 'sms-per-hour': messages },
      });
      expect(await messagesTo(phone, clock())).toBe(ofPhone);
    },
  );
});
