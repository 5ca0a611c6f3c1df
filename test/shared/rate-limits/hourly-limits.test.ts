import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { type CreateUserDeps, handle as createUser } from '#functions/create-user.ts';
import { type SendOtpDeps, handle as sendOtp } from '#functions/send-otp.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { type RateLimiter, rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { userStore } from '#shared/users/store.ts';
import { fakeIdentityRegistry } from '#test/fakes/identity-registry.ts';
import { countingIds } from '#test/fakes/ids.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { fakeSmsSender } from '#test/fakes/sms.ts';
import { callerContext, functionUnderTest, type Reply } from '#test/functions/harness.ts';
import { newPerson } from '#test/functions/people.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
  await table.client.send(
    new PutCommand({ TableName: table.name, Item: { ...sellerKey('sel_test'), user_count: 0 } }),
  );
});
afterAll(() => table.stop());

const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));

let keys = 0;
/** A key that has used up nothing yet. */
const newKey = (plan: 'free' | 'professional' = 'free') => {
  keys += 1;
  return { ...callerContext, plan, keyId: `key_${keys}` };
};

const codesOf = (replies: readonly Reply[]) => replies.map(({ status, json }) => json.code ?? status).sort();
const times = (count: number) => Array.from({ length: count });
const unavailable = (refused: boolean) =>
  new ProviderUnavailable({ provider: 'fake', operation: 'o', reason: 'upstream', refused });

/** A limiter whose count for the hour nobody can reach while `isOut`. */
const unreliableLimiter = () => {
  const limiter = rateLimiter(table);
  const reach = <T>(windowSeconds: number, ask: () => Promise<T>): Promise<T> =>
    unreliable.isOut && windowSeconds === 3600 ? Promise.reject(new Error('no table')) : ask();
  const unreliable: RateLimiter & { isOut: boolean } = {
    isOut: false,
    count: (limit, nowMs) => reach(limit.windowSeconds, () => limiter.count(limit, nowMs)),
    standing: (limit, nowMs) => reach(limit.windowSeconds, () => limiter.standing(limit, nowMs)),
    giveBack: limiter.giveBack,
  };
  return unreliable;
};

describe('failed identity checks', () => {
  /** Links people of whom the registry says this; counts the paid checks. */
  const bench = () => {
    const limiter = unreliableLimiter();
    const says: { identity?: 'not_found' | 'deceased' | Error; ownership?: 'not_matched' | Error } = {};
    const paid = { checks: 0 };
    const identityRegistry = fakeIdentityRegistry({
      identity: () => {
        paid.checks += 1;
        return says.identity ?? 'matched';
      },
      ownership: () => says.ownership ?? 'matched',
    });
    const own = {
      users: userStore(table),
      buyers: buyerStore(table),
      hashes,
      ids: countingIds(),
      identityRegistry,
      rateLimiter: limiter,
    };
    const { call, clock, lines } = functionUnderTest<(typeof routes)['create-user'], CreateUserDeps>(
      routes['create-user'],
      createUser,
      table,
      own,
    );
    const newBuyer = async () => {
      const person = newPerson();
      const [hash] = await hashes.phone(person.phone);
      await buyerStore(table).register(hash, await hashes.buyerId(person.phone), '2026-01-01T00:00:00.000Z');
      return person;
    };
    const link = async (key: ReturnType<typeof newKey>) => call({ body: await newBuyer(), authorizer: key });
    return { says, paid, call, link, newBuyer, clock, lines, limiter };
  };

  it.each([
    ['free', 10],
    ['professional', 100],
  ] as const)(
    'of a %s key are %i in a clock hour; the next is refused before it costs anything',
    async (plan, limit) => {
      const { says, paid, link, clock } = bench();
      const key = newKey(plan);
      says.identity = 'not_found';
      for (const _ of times(limit)) expect((await link(key)).json.code).toBe('identity_mismatch');
      expect(paid.checks).toBe(limit);
      clock.advance(1);
      const { status, json, headers } = await link(key);
      expect([status, json.code, headers['Retry-After']]).toEqual([429, 'rate_limit_exceeded', '3599']);
      expect(paid.checks).toBe(limit);
      clock.advance(3599);
      expect((await link(key)).json.code).toBe('identity_mismatch');
    },
  );

  it.each([
    ['somebody unknown', { identity: 'not_found' }],
    ['somebody who has died', { identity: 'deceased' }],
    ['a phone that is another’s', { ownership: 'not_matched' }],
  ] as const)('are those of %s', async (_whom, verdicts) => {
    const { says, link } = bench();
    const key = newKey();
    Object.assign(says, verdicts);
    for (const _ of times(10)) expect((await link(key)).status).toBe(422);
    expect((await link(key)).status).toBe(429);
  });

  it('are not those that end without a verdict', async () => {
    const { says, link } = bench();
    const key = newKey();
    says.identity = unavailable(true);
    for (const _ of times(12)) expect((await link(key)).status).toBe(503);
    says.identity = undefined;
    expect((await link(key)).status).toBe(201);
  });

  it('are not those that end well, fifty at the same moment', async () => {
    const { link } = bench();
    const key = newKey();
    const replies = await Promise.all(times(50).map(() => link(key)));
    expect(new Set(codesOf(replies))).toEqual(new Set([201]));
  });

  it('are told ten times, however many guess at the same moment', async () => {
    const { says, link } = bench();
    says.ownership = 'not_matched';
    const key = newKey();
    const replies = await Promise.all(times(40).map(() => link(key)));
    expect(codesOf(replies)).toEqual([
      ...Array(10).fill('phone_not_owned'),
      ...Array(30).fill('rate_limit_exceeded'),
    ]);
  });

  it('of one key are no other key’s', async () => {
    const { says, link } = bench();
    const key = newKey();
    says.identity = 'not_found';
    for (const _ of times(11)) await link(key);
    expect((await link(newKey())).status).toBe(422);
  });

  it('keep nobody from what costs nothing: a repeated link, and a phone that is not registered', async () => {
    const { says, call, link, newBuyer } = bench();
    const key = newKey();
    const linked = await newBuyer();
    await call({ body: linked, authorizer: key });
    says.identity = 'not_found';
    for (const _ of times(10)) await link(key);
    expect((await call({ body: linked, authorizer: key })).status).toBe(200);
    expect((await call({ body: newPerson(), authorizer: key })).json.code).toBe('buyer_not_registered');
  });

  it('are not counted where the limiter cannot be reached: the verdict is told, and a metric says so', async () => {
    const { says, link, lines, limiter } = bench();
    limiter.isOut = true;
    const key = newKey();
    says.identity = 'not_found';
    for (const _ of times(12)) expect((await link(key)).json.code).toBe('identity_mismatch');
    expect(lines.join()).toContain('rate_limiter_unreachable');
  });
});

describe('SMS', () => {
  const bench = (options: { otpAccess?: 'public' } = {}) => {
    const limiter = unreliableLimiter();
    const provider: { failure?: Error } = {};
    const sms = fakeSmsSender(() => provider.failure);
    const { call, clock, lines } = functionUnderTest<(typeof routes)['send-otp'], SendOtpDeps>(
      routes['send-otp'],
      sendOtp,
      table,
      { codes: codeStore(table), hashes, sms, rateLimiter: limiter, ...options },
    );
    const send = (key: ReturnType<typeof newKey> | null, phone = newPerson().phone) =>
      call({ body: { phone }, authorizer: key });
    return { provider, sms, send, clock, lines, limiter };
  };

  it('of a free key are 100 in a clock hour, however many ask at the same moment; then nothing goes out', async () => {
    const { sms, send, clock } = bench();
    const key = newKey();
    const first = await Promise.all(times(60).map(() => send(key)));
    clock.advance(60);
    const second = await Promise.all(times(60).map(() => send(key)));
    expect(codesOf([...first, ...second])).toEqual([
      ...Array(100).fill(202),
      ...Array(20).fill('rate_limit_exceeded'),
    ]);
    expect(sms.sent).toHaveLength(100);
    const { headers } = await send(key);
    expect(headers['Retry-After']).toBe('3540');
    clock.advance(3540);
    expect((await send(key)).status).toBe(202);
  });

  it('that are refused by the limit leave the phone as it was', async () => {
    const { send, clock } = bench();
    const key = newKey();
    for (const _ of times(100)) {
      await send(key);
      clock.advance(1);
    }
    const { phone } = newPerson();
    expect((await send(key, phone)).json.code).toBe('rate_limit_exceeded');
    expect((await send(newKey(), phone)).status).toBe(202);
  });

  it('that the provider surely did not take are given back', async () => {
    const { provider, send, clock } = bench();
    const key = newKey();
    provider.failure = unavailable(true);
    for (const _ of times(120)) {
      expect((await send(key)).status).toBe(503);
      clock.advance(1);
    }
    provider.failure = undefined;
    expect((await send(key)).status).toBe(202);
  });

  it('that may have gone out are not', async () => {
    const { provider, send, clock } = bench();
    const key = newKey();
    provider.failure = unavailable(false);
    for (const _ of times(100)) {
      expect((await send(key)).status).toBe(503);
      clock.advance(1);
    }
    expect((await send(key)).json.code).toBe('rate_limit_exceeded');
  });

  it('are not counted for a phone that is still cooling down, also of two at the same moment', async () => {
    const { send, clock } = bench();
    const key = newKey();
    for (const _ of times(99)) {
      const { phone } = newPerson();
      await Promise.all([send(key, phone), send(key, phone)]);
      clock.advance(2);
    }
    expect((await send(key)).status).toBe(202);
    expect((await send(key)).json.code).toBe('rate_limit_exceeded');
  });

  it('are not counted where there is no key', async () => {
    const { send } = bench({ otpAccess: 'public' });
    for (const _ of times(101)) expect((await send(null)).status).toBe(202);
  });

  it('that went uncounted are not given back: that would be room for others', async () => {
    const { provider, send, limiter, clock } = bench();
    const key = newKey();
    for (const _ of times(99)) {
      await send(key);
      clock.advance(1);
    }
    limiter.isOut = true;
    provider.failure = unavailable(true);
    await send(key);
    limiter.isOut = false;
    provider.failure = undefined;
    expect((await send(key)).status).toBe(202);
    expect((await send(key)).json.code).toBe('rate_limit_exceeded');
  });

  it('go out where the limiter cannot be reached, and a metric says so', async () => {
    const { provider, send, lines, limiter } = bench();
    const key = newKey();
    limiter.isOut = true;
    expect((await send(key)).status).toBe(202);
    provider.failure = unavailable(true);
    expect((await send(key)).status).toBe(503);
    expect(lines.join()).toContain('rate_limiter_unreachable');
  });
});
