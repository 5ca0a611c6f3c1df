/** What each refusal counts of a key and which headers it has, over the operations that have refusals of their own. */
import { revokeKey } from '#admin/operations/change-key.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { bearerOf } from '#test/fakes/buyer-tokens.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { newPerson } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { testHashes } from './create-user-deps.ts';
import {
  addSellers,
  createUserUnderTest,
  newBuyerIn,
  newKey,
  type RegistryResults,
} from './create-user-under-test.ts';
import { callerContext } from './harness.ts';
import { COUNTED, limitOfOne, outcomeOf, usedUp } from './outcome.ts';
import { type OwnKey, useOwnKey } from './own-key-under-test.ts';
import { linkPerson } from './users-on.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

/** A token that nobody issued, and one for another seller. */
const BAD_TOKENS = [{ Authorization: 'Bearer no.such.token' }, await bearerOf('+989990000001', 'sel_other')];

describe('create-user: a link', () => {
  const linking = (registry = {}) => createUserUnderTest(table, { registry });

  const refusedLink = async (registry: object, body: object, key = newKey('professional')) => {
    const { call, clock } = linking(registry);
    return outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, await call({ body, authorizer: key }));
  };

  it.each([
    ['identity_mismatch', { identity: 'not_found' }],
    ['identity_mismatch', { identity: 'deceased' }],
    ['phone_not_owned', { ownership: 'not_matched' }],
  ])('refused with %s is a failed check that was paid', async (code, registry) => {
    expect(await refusedLink(registry, await newBuyerIn(table))).toEqual({
      ...COUNTED,
      status: 422,
      code,
      counts: { minute_0: 1, 'failed-checks-per-hour': 1, 'paid-checks-per-day': 1 },
    });
  });

  it.each([
    ['upstream', 'possibly_sent', 1],
    ['undecided', 'not_sent', 1],
    ['transport', 'not_reached', 0],
    ['circuit_open', 'not_reached', 0],
  ] as const)(
    'without a verdict (%s, %s) is no refused link, and %i was paid',
    async (reason, delivery, paid) => {
      const failure = unavailableBecause(reason, { delivery });
      const registry = { identity: failure, ownership: failure };
      expect(await refusedLink(registry, await newBuyerIn(table))).toEqual({
        ...COUNTED,
        status: 503,
        code: 'verification_unavailable',
        retryAfter: '30',
        counts: { minute_0: 1, 'paid-checks-per-day': paid },
      });
    },
  );

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

  it('of a person whose buyer ended the link is a refused link, also with a phone that is not registered', async () => {
    const person = await newBuyerIn(table);
    await linkPerson(table, 'sel_test', person);
    const app = buyerAppOn(table);
    await app.end(person.phone, (await app.find(person)).json.data[0].id);
    expect(await refusedLink({}, { ...person, phone: newPerson().phone })).toEqual({
      ...COUNTED,
      status: 403,
      code: 'link_refused',
      counts: { minute_0: 1, 'refused-links-per-hour': 1 },
    });
  });

  it('with the external id of another user is a refused link', async () => {
    const external_id = 'order:taken';
    await linking().call({ body: { ...(await newBuyerIn(table)), external_id } });
    expect(await refusedLink({}, { ...(await newBuyerIn(table)), external_id })).toEqual({
      ...COUNTED,
      status: 409,
      code: 'external_id_conflict',
      counts: { minute_0: 1, 'refused-links-per-hour': 1 },
    });
  });

  it('of a person whose checks of the minute are used up counts as a request only', async () => {
    const body = await newBuyerIn(table);
    const undecided = { identity: unavailableBecause('upstream') };
    for (let begun = 0; begun < 5; begun += 1) await refusedLink(undecided, body);
    expect(await refusedLink({}, body)).toEqual({
      ...COUNTED,
      status: 429,
      code: 'too_many_attempts',
      retryAfter: '60',
      counts: { minute_0: 1 },
    });
  });

  it.each(BAD_TOKENS)(
    'with a token that is not valid counts as a request only, whoever the person is',
    async (headers) => {
      const key = newKey('professional');
      const { call, clock } = linking();
      const reply = await call({ body: newPerson(), authorizer: key, headers });
      expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
        ...COUNTED,
        status: 401,
        code: 'invalid_access_token',
        counts: { minute_0: 1 },
      });
    },
  );

  it.each([
    [
      'failed-checks-per-hour',
      { identity: 'not_found' },
      () => newBuyerIn(table),
      { 'paid-checks-per-day': 1 },
    ],
    ['refused-links-per-hour', {}, async () => newPerson(), {}],
  ] as const)('over %s counts as a request only', async (name, registry, newBody, paid) => {
    const key = { ...newKey('professional'), ...limitOfOne(name) };
    expect((await refusedLink(registry, await newBody(), key)).counts).toEqual({
      minute_0: 1,
      [name]: 1,
      ...paid,
    });
    const over = await refusedLink({}, await newBuyerIn(table), key);
    expect(over).toMatchObject({
      ...usedUp(name),
      rateLimit: usedUp(name).rateLimit.replace('r=999', 'r=998'),
    });
    expect(over.counts).toEqual({ minute_0: 2, [name]: 1, ...paid });
  });
});

describe('check-user: a check of a user', () => {
  /** A user who was linked two minutes ago, what a check of it sends, and the function. */
  const linkedBefore = async (registry: RegistryResults) => {
    const { display_name, ...claim } = await newBuyerIn(table);
    const body = { ...claim, display_name };
    const { json: user } = await createUserUnderTest(table).call({ body, authorizer: newKey() });
    const under = createUserUnderTest(table, { registry });
    under.clock.advance(120);
    return { ...under, claim, path: { id: user.id as string } };
  };

  const refusedCheck = async (results: RegistryResults, change: () => Promise<object>) => {
    const { check, clock, path, claim } = await linkedBefore(results);
    const key = newKey('professional');
    const reply = await check({ path, body: { ...claim, ...(await change()) }, authorizer: key });
    return outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply);
  };
  const same = async () => ({});
  const otherPhone = async () => ({ phone: (await newBuyerIn(table)).phone });
  const upstream = { ownership: unavailableBecause('upstream') };

  const REFUSED = { 'refused-links-per-hour': 1 };
  const PAID = { 'paid-checks-per-day': 1 };

  it.each([
    [404, 'buyer_not_registered', {}, async () => ({ phone: newPerson().phone }), REFUSED],
    [
      409,
      'user_conflict',
      {},
      async () => {
        const { national_id, phone } = newPerson();
        return { national_id, phone };
      },
      REFUSED,
    ],
    [409, 'user_conflict', {}, async () => ({ national_id: (await newBuyerIn(table)).national_id }), REFUSED],
    [422, 'identity_mismatch', { identity: 'deceased' }, same, { ...PAID, 'failed-checks-per-hour': 1 }],
    [422, 'phone_not_owned', { ownership: 'not_matched' }, same, { ...PAID, 'failed-checks-per-hour': 1 }],
    [503, 'verification_unavailable', upstream, otherPhone, PAID],
  ] as const)(
    'refused with %i %s counts what a link counts (case %#)',
    async (status, code, registry, change, counts) => {
      expect(await refusedCheck(registry, change)).toEqual({
        status,
        code,
        rateLimit: COUNTED.rateLimit,
        retryAfter: status === 503 ? '30' : undefined,
        counts: { minute_2: 1, ...counts },
      });
    },
  );

  it('of a person whose failed checks of the day are used up counts as a request only', async () => {
    const { check, clock, registry, path, claim } = await linkedBefore({ ownership: 'not_matched' });
    const refused = () => check({ path, body: claim, authorizer: newKey() });
    for (let failed = 0; failed < 5; failed += 1) expect((await refused()).json.code).toBe('phone_not_owned');
    registry.ownership = 'matched';
    const key = newKey('professional');
    const reply = await check({ path, body: claim, authorizer: key });
    expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
      ...COUNTED,
      status: 429,
      code: 'too_many_attempts',
      retryAfter: String(16 * 3600 - 120),
      counts: { minute_2: 1 },
    });
  });
});

describe('find-links and end-link: a call', () => {
  it.each([
    ['find-links', { rawBody: '{' }],
    ['end-link', { path: { id: 'lnk_1' } }],
  ] as const)(
    'of %s with a token that is not valid counts as a request only, before the body is read',
    async (name, request) => {
      const bodies = new Set<string>();
      for (const [index, headers] of [{}, ...BAD_TOKENS].entries()) {
        const key = { ...callerContext, keyId: `key_${name}_${index}` };
        const { call, clock } = buyerAppOn(table);
        const reply = await call[name]({ ...request, headers, authorizer: key });
        bodies.add(JSON.stringify(reply.json));
        expect(await outcomeOf(table, { keyId: key.keyId, nowMs: clock() }, reply)).toEqual({
          ...COUNTED,
          status: 401,
          code: 'invalid_access_token',
          counts: { minute_0: 1 },
        });
      }
      expect(bodies.size).toBe(1);
    },
  );
});

describe('find-links: a search of links', () => {
  it('after twenty that matched nobody counts as a request only', async () => {
    const person = newPerson();
    const { call, clock } = buyerAppOn(table);
    const search = async (authorizer = newKey('professional')) => {
      const body = { national_id: person.national_id, birth_date: '1370/1/15' };
      const reply = await call['find-links']({ headers: await bearerOf(person.phone), body, authorizer });
      return outcomeOf(table, { keyId: authorizer.keyId, nowMs: clock() }, reply);
    };
    const limit = phoneLimit('searches', await testHashes.phone(person.phone));
    while ((await limiterOn(table).increment(limit, clock())).allowed);
    expect(await search()).toEqual({
      ...COUNTED,
      status: 429,
      code: 'too_many_attempts',
      retryAfter: String(16 * 3600),
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
    'counts as a request and has the headers of the plan, where the key is revoked in the table alone: %s',
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
