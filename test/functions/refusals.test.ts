/** What each refusal counts of a key and which headers it has, over the operations that have refusals of their own. */
import { revokeKey } from '#admin/operations/change-key.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { newPerson } from '#test/generated-people.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import { callerContext } from './harness.ts';
import { outcomeOf } from './outcome.ts';
import { type OwnKey, useOwnKey } from './own-key-under-test.ts';
import { sendOtpOn } from './send-otp-under-test.ts';
import { RIGHT, verifyOtpOn, WRONG } from './verify-otp-under-test.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

const COUNTED = { rateLimit: '"professional";r=999;t=60', retryAfter: undefined } as const;

/** The headers of a refusal by an hourly limit at the full hour. */
const usedUp = (name: string) => ({
  status: 429,
  code: 'rate_limit_exceeded',
  rateLimit: `"professional";r=999;t=60, "${name}";r=0;t=3600`,
  retryAfter: '3600',
});

const limitOfOne = (name: string) => ({ limits: JSON.stringify({ [name]: 1 }) });

const BAD_TOKEN = { headers: { authorization: 'Bearer no.such.token' } };

describe('a link', () => {
  const linking = (registry = {}) => createUserUnderTest(table, { registry });

  const refusedLink = async (registry: object, body: object, key = newKey('professional')) => {
    const { call, clock } = linking(registry);
    return outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, await call({ body, authorizer: key }));
  };

  it.each([
    ['identity_mismatch', { identity: 'not_found' }],
    ['phone_not_owned', { ownership: 'not_matched' }],
  ])('refused with %s is a failed check that was paid', async (code, registry) => {
    expect(await refusedLink(registry, await newBuyerIn(table))).toEqual({
      ...COUNTED,
      status: 422,
      code,
      counts: { minute_0: 1, 'failed-checks-per-hour': 1, 'paid-checks-per-day': 1 },
    });
  });

  it('without a verdict is a refused link that was paid', async () => {
    const registry = { identity: unavailableBecause('upstream') };
    expect(await refusedLink(registry, await newBuyerIn(table))).toMatchObject({
      status: 503,
      code: 'verification_unavailable',
      rateLimit: COUNTED.rateLimit,
      counts: { minute_0: 1, 'refused-links-per-hour': 1, 'paid-checks-per-day': 1 },
    });
  });

  it('of an unregistered phone is a refused link', async () => {
    expect(await refusedLink({}, newPerson())).toEqual({
      ...COUNTED,
      status: 404,
      code: 'buyer_not_registered',
      counts: { minute_0: 1, 'refused-links-per-hour': 1 },
    });
  });

  it('of a linked person with another birth date is a refused link', async () => {
    const person = await newBuyerIn(table);
    const { call, clock } = linking();
    await call({ body: person });
    const key = newKey('professional');
    const reply = await call({ body: { ...person, birth_date: '1370/1/16' }, authorizer: key });
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 409,
      code: 'user_conflict',
      counts: { minute_0: 1, 'refused-links-per-hour': 1 },
    });
  });

  it('with a token that is not valid counts as a request only', async () => {
    const key = newKey('professional');
    const { call, clock } = linking();
    const reply = await call({ body: await newBuyerIn(table), authorizer: key, ...BAD_TOKEN });
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 401,
      code: 'invalid_access_token',
      counts: { minute_0: 1 },
    });
  });

  it.each([
    ['failed-checks-per-hour', { identity: 'not_found' }, 422],
    ['refused-links-per-hour', { identity: unavailableBecause('upstream') }, 503],
  ])('over %s counts as a request only', async (name, registry, status) => {
    const key = { ...newKey('professional'), ...limitOfOne(name) };
    expect((await refusedLink(registry, await newBuyerIn(table), key)).status).toBe(status);
    const over = await refusedLink({}, await newBuyerIn(table), key);
    expect(over).toMatchObject({
      ...usedUp(name),
      rateLimit: usedUp(name).rateLimit.replace('r=999', 'r=998'),
    });
    expect(over.counts).toEqual({ minute_0: 2, [name]: 1, 'paid-checks-per-day': 1 });
  });
});

describe('a sign-in', () => {
  const keyOf = (name: string) => ({
    ...callerContext,
    keyId: `key_${name}`,
    sellerId: 'sel_a',
    scopes: 'users:read',
  });

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

  it('of a phone without tries left counts as a request only', async () => {
    const { phone } = newPerson();
    const key = keyOf('sixth');
    const { send, verify, clock } = verifyOtpOn(table);
    await send(phone, 'sel_a');
    for (let tries = 0; tries < 5; tries += 1) await verify(phone, WRONG, keyOf('five'));
    const reply = await verify(phone, RIGHT, key);
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 429,
      code: 'too_many_attempts',
      retryAfter: '60',
      counts: { minute_0: 1 },
    });
  });

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

  it('over failed-verifies-per-hour counts as a request only', async () => {
    const { phone } = newPerson();
    const key = { ...keyOf('over'), ...limitOfOne('failed-verifies-per-hour') };
    const { send, verify, clock } = verifyOtpOn(table);
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
  });
});

describe('a send', () => {
  const keyOf = (name: string) => ({
    ...callerContext,
    keyId: `key_${name}`,
    sellerId: 'sel_a',
    scopes: 'users:read',
  });

  it('within the cool-down counts as a request only', async () => {
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
  });

  it('over sms-per-hour is refused by the cool-down of the phone first, and otherwise by the limit of the key', async () => {
    const [phone, other] = [newPerson().phone, newPerson().phone];
    const key = { ...keyOf('sms_over'), ...limitOfOne('sms-per-hour') };
    const { send, clock } = sendOtpOn(table);
    await send(phone, key);
    const codes = [await send(phone, key), await send(other, key)].map(({ json }) => json.code);
    expect(codes).toEqual(['resend_too_soon', 'rate_limit_exceeded']);
    const last = await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, await send(other, key));
    expect(last).toEqual({
      ...usedUp('sms-per-hour'),
      rateLimit: '"professional";r=996;t=60, "sms-per-hour";r=0;t=3600',
      counts: { minute_0: 4, 'sms-per-hour': 1 },
    });
  });

  it.each([
    ['possibly_sent', 1],
    ['not_sent', 1],
    ['not_reached', 0],
  ] as const)(
    'that a provider did not accept (%s) leaves %i messages counted',
    async (delivery, messages) => {
      const key = keyOf(delivery);
      const { send, provider, clock } = sendOtpOn(table);
      provider.failure = new ProviderUnavailable({ provider: 'first', operation: 'send_code' }, 'balance', {
        delivery,
      });
      const reply = await send(newPerson().phone, key);
      expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toMatchObject({
        status: 503,
        code: 'sms_unavailable',
        rateLimit: COUNTED.rateLimit,
        counts: { minute_0: 1, 'sms-per-hour': messages },
      });
    },
  );
});

describe('a call of the buyer app', () => {
  it.each([
    ['find-links', { body: { national_id: newPerson().national_id, birth_date: '1370/1/15' } }],
    ['end-link', { path: { id: 'lnk_1' } }],
  ] as const)('of %s with a token that is not valid counts as a request only', async (name, request) => {
    const key = { ...callerContext, keyId: `key_${name}` };
    const { call, clock } = buyerAppOn(table);
    const reply = await call[name]({ ...request, ...BAD_TOKEN, authorizer: key });
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 401,
      code: 'invalid_access_token',
      counts: { minute_0: 1 },
    });
  });
});

describe('a call with a key that has ended since the decision of the authorizer', () => {
  const newOwnKey = useOwnKey();
  let own: OwnKey;
  beforeEach(async () => {
    own = await newOwnKey();
  });

  const callOf = (name: 'getKey' | 'rotateKey', authorizer = own.authorizer) =>
    own[name]().call({ authorizer });

  const outcome = async (reply: Awaited<ReturnType<typeof callOf>>) => {
    const { table: its, clock } = own.administration;
    return outcomeOf(its, { keyId: own.authorizer.keyId, nowMs: clock() }, reply);
  };

  it.each(['getKey', 'rotateKey'] as const)(
    'counts as a request and has the headers of the plan, where only the table knows: %s',
    async (name) => {
      await revokeKey(own.administration.admin, own.authorizer.keyId);
      expect(await outcome(await callOf(name))).toEqual({
        status: 401,
        code: 'invalid_api_key',
        rateLimit: expect.stringMatching(/^"free";r=99;t=\d+$/),
        retryAfter: undefined,
        counts: { minute_0: 1 },
      });
    },
  );

  it.each(['getKey', 'rotateKey'] as const)(
    'counts nothing and has no headers of a plan, where its own end has passed: %s',
    async (name) => {
      const expiresAt = String(own.administration.clock() / 1000);
      expect(await outcome(await callOf(name, { ...own.authorizer, expiresAt }))).toEqual({
        status: 401,
        code: 'invalid_api_key',
        rateLimit: undefined,
        retryAfter: undefined,
        counts: {},
      });
    },
  );
});
