import { DeleteCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { personKey } from '#shared/table/keys.ts';
import { notWritten } from '#shared/table/writes.ts';
import { bearerOf } from '#test/fakes/buyer-tokens.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { newPerson } from '#test/generated-people.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn, linkPerson } from './buyer-links-under-test.ts';
import { testHashes } from './create-user-deps.ts';
import {
  addSellers,
  createUserUnderTest,
  newBuyerIn,
  newKey,
  type RegistryResults,
} from './create-user-under-test.ts';
import { callerContext } from './harness.ts';

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test');
});

const createUser = (registry: RegistryResults = {}) => createUserUnderTest(table, { registry });
const newBuyer = () => newBuyerIn(table);
const listAll = async (sellerId: string) => (await userStore(table).listPage(sellerId, 1, 100)).users;

const itemsWithPrefix = async (prefix: string) => {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name }));
  return Items.filter((item) => String(item.pk).startsWith(prefix));
};

describe('201', () => {
  it('returns the new user with its national id masked, its phone in E.164 and its birth date un-padded', async () => {
    const person = await newBuyer();
    const sent = {
      ...person,
      phone: `0${person.phone.slice(3)}`,
      birth_date: '1370/01/05',
      display_name: '  Sara  ',
    };
    const { status, json } = await createUser().call({ body: sent });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^usr_[0-9A-Za-z]{22}$/),
      external_id: null,
      national_id: `******${person.national_id.slice(-4)}`,
      birth_date: '1370/1/5',
      phone: person.phone,
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
      checked_at: '2026-11-21T08:00:00.000Z',
    });
  });

  it("reads the seller's count after the paid checks, right before the transaction", async () => {
    const order: string[] = [];
    const traced = interceptedTable(table, ({ name }, send) => {
      order.push(name);
      return send();
    });
    const registry = { wait: async () => order.push('check') };
    await createUserUnderTest(traced, { registry }).call({ body: await newBuyer() });
    expect(order.slice(-4)).toEqual(['check', 'check', 'GetCommand', 'TransactWriteCommand']);
  });

  it('is the response when a removed person is linked again, with a new check and a new id', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser();
    const first = await call({ body: person });
    const removedAt = new Date(clock()).toISOString();
    await userStore(table).removeUser('sel_test', first.json.id, {
      removedAt,
      reason: 'seller' as const,
    });
    const second = await call({ body: person });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.json.id).not.toBe(first.json.id);
    expect(paid).toEqual({ identity: 2, ownership: 2 });
  });

  it('is the response, with a new check and a new id, when the user is removed between the two reads that find it', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const removal = {
      removedAt: '2026-11-21T08:00:00.000Z',
      reason: 'seller' as const,
    };
    const { call, paid } = createUserUnderTest(table, {
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          getUser: async (sellerId, userId) => {
            await userStore(table).removeUser(sellerId, userId, removal);
            return deps.users.getUser(sellerId, userId);
          },
        },
      }),
    });
    const { status, json } = await call({ body: person });
    expect(status).toBe(201);
    expect(json.id).not.toBe(first.json.id);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
  });
});

describe('200', () => {
  it('returns the existing user when the same link is sent again, without a paid check', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const { paid, call } = createUser();
    const again = await call({ body: { ...person, birth_date: '1370/01/15', display_name: 'Another name' } });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('is the response for the same day of birth in the other calendar', async () => {
    const person = await newBuyer();
    await createUser().call({ body: person });
    const again = await createUser().call({ body: { ...person, birth_date: '1991/4/4' } });
    expect(again.status).toBe(200);
    expect(again.json.birth_date).toBe('1370/1/15');
  });
});

describe('401', () => {
  it('is the response to a forged Bearer token and to one for another seller, before the person is looked up, and costs nothing', async () => {
    const body = newPerson();
    const { call, paid } = createUser();
    const [own, foreign] = [await bearerOf(body.phone), await bearerOf(body.phone, 'sel_other')];
    const other = { ...callerContext, sellerId: 'sel_other' };
    for (const sent of [
      { headers: { Authorization: 'Bearer no.such.token' } },
      { headers: { Authorization: 'Bearer' } },
      { headers: foreign },
      { headers: own, authorizer: other },
    ]) {
      const { status, json } = await call({ ...sent, body });
      expect([status, json.code]).toEqual([401, 'invalid_access_token']);
    }
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('is not the response to another scheme, which the service does not read', async () => {
    const headers = { authorization: 'Basic c2VsbGVyOnNlY3JldA==' };
    expect((await createUser().call({ body: await newBuyer(), headers })).status).toBe(201);
  });
});

describe('403', () => {
  const ENDED_AT = Date.parse('2026-11-21T08:00:00Z') / 1000;

  /** A person whose buyer has ended the link with sel_test. */
  const refusedPerson = async () => {
    const person = await newBuyer();
    await linkPerson(table, 'sel_test', person);
    const app = buyerAppOn(table);
    const [{ id }] = (await app.find(person)).json.data;
    expect((await app.end(person.phone, id)).status).toBe(204);
    return { person };
  };

  it('is the response to a link without a token, with an old one, of another phone and of another seller', async () => {
    const { person } = await refusedPerson();
    const { call, paid } = createUser();
    const tokens = [
      {},
      await bearerOf(person.phone, 'sel_test', ENDED_AT - 1),
      await bearerOf(person.phone, 'sel_test', ENDED_AT),
      await bearerOf('+989990000001', 'sel_test', ENDED_AT + 1),
    ];
    for (const headers of tokens) {
      const { status, json } = await call({ body: person, headers });
      expect([status, json.code]).toEqual([403, 'link_refused']);
    }
    const foreign = await bearerOf(person.phone, 'sel_other', ENDED_AT + 1);
    expect((await call({ body: person, headers: foreign })).json.code).toBe('invalid_access_token');
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('ends with a sign-in of the phone at the seller: the link is made, and the refusal is gone', async () => {
    const { person } = await refusedPerson();
    const { call, clock } = createUser();
    clock.advance(10);
    const headers = await bearerOf(person.phone, 'sel_test', ENDED_AT + 1);
    expect((await call({ body: person, headers })).status).toBe(201);
    expect((await call({ body: person })).status).toBe(200);
    const { current: phoneHash } = await testHashes.phone(person.phone);
    expect((await itemsWithPrefix(`LINKS#${phoneHash}`)).map(({ sk }) => sk)).toEqual([
      expect.stringMatching(/^sel_test#/),
    ]);
  });

  it('keeps an end that comes while a link with a token is under way', async () => {
    const { person } = await refusedPerson();
    const headers = await bearerOf(person.phone, 'sel_test', ENDED_AT + 1);
    const { current: personHash } = await testHashes.person('sel_test', person.national_id);
    let isEnded = false;
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand' && !isEnded) {
        isEnded = true;
        // As if the buyer had linked and ended the link once more, a moment ago.
        await table.client.send(
          new UpdateCommand({
            TableName: table.name,
            Key: personKey('sel_test', personHash),
            UpdateExpression: 'SET refused_at = :now',
            ExpressionAttributeValues: { ':now': ENDED_AT + 5 },
          }),
        );
      }
      return send();
    });
    const { call, clock } = createUserUnderTest(raced);
    clock.advance(10);
    expect((await call({ body: person, headers })).json.code).toBe('link_refused');
  });
});

describe('201 after an end', () => {
  it('is the response if the refusal that a token lifts is erased while the link is under way', async () => {
    const person = await newBuyer();
    await linkPerson(table, 'sel_test', person);
    const app = buyerAppOn(table);
    await app.end(person.phone, (await app.find(person)).json.data[0].id);
    const { current: personHash } = await testHashes.person('sel_test', person.national_id);
    let attempts = 0;
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand') {
        attempts += 1;
        const Key = personKey('sel_test', personHash);
        if (attempts === 1) await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
      }
      return send();
    });
    const { call, clock } = createUserUnderTest(raced);
    clock.advance(10);
    const headers = await bearerOf(person.phone, 'sel_test', Math.floor(clock() / 1000));
    expect((await call({ body: person, headers })).status).toBe(201);
    expect(attempts).toBe(2);
  });
});

describe('404', () => {
  it('is buyer_not_registered for a phone that is not registered, without a paid check', async () => {
    const { paid, call } = createUser();
    const { status, json } = await call({ body: newPerson() });
    expect([status, json.code]).toEqual([404, 'buyer_not_registered']);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });
});

describe('409', () => {
  const changes = [
    ['another registered phone', async () => ({ phone: (await newBuyer()).phone })],
    ['a phone that is not registered', async () => ({ phone: newPerson().phone })],
    ['another birth date', async () => ({ birth_date: '1370/1/16' })],
  ] as const;

  it.each(changes)(
    'is user_conflict with the id of the user for a linked person with %s, without a paid check',
    async (_what, change) => {
      const person = await newBuyer();
      const linked = await createUser().call({ body: person });
      const { paid, call } = createUser();
      const { status, json } = await call({ body: { ...person, ...(await change()) } });
      expect([status, json.code, json.user_id]).toEqual([409, 'user_conflict', linked.json.id]);
      expect(paid).toEqual({ identity: 0, ownership: 0 });
    },
  );

  it('is the same response whether the other phone is registered or not', async () => {
    const person = await newBuyer();
    await createUser().call({ body: person });
    const [registered, unknown] = await Promise.all(
      [(await newBuyer()).phone, newPerson().phone].map((phone) =>
        createUser().call({ body: { ...person, phone }, authorizer: newKey() }),
      ),
    );
    expect(registered).toEqual(unknown);
  });
});

describe('409 external_id_conflict', () => {
  const external_id = 'order:409';
  beforeAll(async () => {
    const { status, json } = await createUser().call({ body: { ...(await newBuyer()), external_id } });
    expect([status, json.external_id]).toEqual([201, external_id]);
  });

  it('is the response if another user has the external id, without a paid check', async () => {
    const { paid, call } = createUser();
    const { status, json } = await call({ body: { ...(await newBuyer()), external_id } });
    expect([status, json.code]).toEqual([409, 'external_id_conflict']);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it('is not the response for a linked person, whose external id stays, nor for a phone that is not registered', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const again = await createUser().call({ body: { ...person, external_id } });
    expect([again.status, again.json]).toEqual([200, first.json]);
    const unknown = await createUser().call({ body: { ...newPerson(), external_id } });
    expect(unknown.json.code).toBe('buyer_not_registered');
  });

  it('is the response if another user takes the external id during the check', async () => {
    const registry: RegistryResults = {};
    const { call, paid } = createUser(registry);
    const taken = 'order:during';
    registry.wait = async () => {
      registry.wait = undefined;
      await createUser().call({ body: { ...(await newBuyer()), external_id: taken } });
    };
    const { status, json } = await call({ body: { ...(await newBuyer()), external_id: taken } });
    expect([status, json.code, paid.identity]).toEqual([409, 'external_id_conflict', 1]);
  });
});

describe('422', () => {
  it.each([
    ['identity_mismatch', { identity: 'not_found' as const }],
    ['identity_mismatch', { identity: 'deceased' as const }],
    ['phone_not_owned', { ownership: 'not_matched' as const }],
  ])('is %s when the registry returns %j, and no person is stored', async (code, registry) => {
    const before = await itemsWithPrefix('PERSON#');
    const person = await newBuyer();
    const { status, json } = await createUser(registry).call({ body: person });
    expect([status, json.code]).toEqual([422, code]);
    expect((await listAll('sel_test')).map((user) => user.phone)).not.toContain(person.phone);
    expect(await itemsWithPrefix('PERSON#')).toHaveLength(before.length);
  });

  it('names every field that is missing, unknown or wrong, all at once', async () => {
    const body = {
      national_id: '1234567890',
      birth_date: '1404/12/30',
      nationl_id: 1,
      __proto: 1,
      toString: 1,
    };
    const { status, json } = await createUser().call({ body });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map((error: { pointer: string }) => error.pointer)).toEqual([
      '#/national_id',
      '#/birth_date',
      '#/phone',
      '#/display_name',
      '#/nationl_id',
      '#/__proto',
      '#/toString',
    ]);
  });
});

describe('429', () => {
  it('is too_many_attempts until midnight UTC after five failed checks of a person in a day, without a paid check', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    clock.set('2026-11-21T23:30:00Z');
    for (const day of [1, 2, 3, 4, 5]) {
      const reply = await call({ body: { ...person, birth_date: `1370/1/${day}` }, authorizer: newKey() });
      expect(reply.json.code).toBe('identity_mismatch');
      clock.advance(60);
    }
    const { status, json, headers } = await call({ body: person });
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'too_many_attempts', '1500']);
    expect(paid.identity).toBe(5);
    clock.advance(1500);
    expect((await call({ body: person })).json.code).toBe('identity_mismatch');
  });

  it('is too_many_attempts until the next minute after five checks of a person that began in a clock minute', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: unavailableBecause('upstream') });
    clock.set('2026-11-21T08:00:40Z');
    for (const _ of [1, 2, 3, 4, 5]) {
      expect((await call({ body: person, authorizer: newKey() })).json.code).toBe('verification_unavailable');
    }
    const { status, json, headers } = await call({ body: person });
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'too_many_attempts', '20']);
    expect(paid.identity).toBe(5);
    clock.advance(20);
    expect((await call({ body: person })).json.code).toBe('verification_unavailable');
  });

  it('is the same response for every phone of a person whose checks are used up, and counts nothing', async () => {
    const person = await newBuyer();
    const { call, clock } = createUser({ identity: 'not_found' });
    for (const day of [1, 2, 3, 4, 5]) {
      await call({ body: { ...person, birth_date: `1370/1/${day}` }, authorizer: newKey() });
      clock.advance(60);
    }
    const authorizer = { ...newKey(), limits: JSON.stringify({ 'refused-links-per-hour': 1 }) };
    const phones = [person.phone, (await newBuyer()).phone, newPerson().phone, newPerson().phone];
    const replies = [];
    for (const phone of phones) replies.push(await call({ body: { ...person, phone }, authorizer }));
    expect(replies.map(({ json }) => json.code)).toEqual(Array(4).fill('too_many_attempts'));
    expect(new Set(replies.map(({ json }) => JSON.stringify(json))).size).toBe(1);
  });

  it('answers a linked person although its checks are used up', async () => {
    const person = await newBuyer();
    const { call, registry, clock } = createUser();
    const linked = await call({ body: person });
    registry.identity = 'not_found';
    for (const _ of [1, 2, 3, 4, 5]) {
      const { phone } = await newBuyer();
      await createUserUnderTest(table, { registry }).check({
        path: { id: linked.json.id },
        body: { national_id: person.national_id, birth_date: person.birth_date, phone },
        authorizer: newKey(),
      });
    }
    clock.advance(1);
    expect((await call({ body: person })).json).toEqual(linked.json);
    const wrong = await call({ body: { ...person, birth_date: '1370/1/16' } });
    expect(wrong.json.code).toBe('user_conflict');
  });
});

describe('503', () => {
  it.each([
    ['identity', { identity: unavailableBecause('quota', { retryAfterSeconds: 17 }) }],
    ['ownership', { ownership: unavailableBecause('quota', { retryAfterSeconds: 17 }) }],
  ])(
    'is verification_unavailable with Retry-After when the %s check has no verdict; nothing is stored, and the same request can be sent again',
    async (_which, registry) => {
      const person = await newBuyer();
      const stored = async () =>
        (await itemsWithPrefix('')).filter(({ pk }) => !String(pk).startsWith('LIMIT#'));
      const before = await stored();
      const { status, headers, json } = await createUser(registry).call({ body: person });
      expect([status, json.code, headers['Retry-After']]).toEqual([503, 'verification_unavailable', '17']);
      expect(await stored()).toEqual(before);
      expect((await createUser().call({ body: person })).status).toBe(201);
    },
  );

  it('has its cause in the log: the provider, the operation and the reason', async () => {
    const { call, lines } = createUser({ identity: unavailableBecause('quota') });
    await call({ body: await newBuyer() });
    const completed = lines
      .map((line) => JSON.parse(line))
      .find(({ event }) => event === 'request_completed');
    expect(completed).toMatchObject({
      status: 503,
      code: 'verification_unavailable',
      cause_provider: 'fake',
      cause_operation: 'identity',
      cause_reason: 'quota',
    });
  });

  it('is verification_unavailable for a key that has used up its quarter of the paid checks of the stage, and no other', async () => {
    const { call, link, paid } = createUserUnderTest(table, { paidChecksPerDay: 8 });
    const authorizer = { ...newKey(), scopes: 'users:write' };
    const linkAgain = async () => call({ body: await newBuyer(), authorizer });
    const replies = [await linkAgain(), await linkAgain(), await linkAgain()];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 503]);
    expect([replies[2]?.json.code, replies[2]?.headers['Retry-After']]).toEqual([
      'verification_unavailable',
      String(16 * 3600),
    ]);
    expect((await link()).status).toBe(201);
    expect(paid).toEqual({ identity: 3, ownership: 3 });
  });
});

describe('what changes while a link is made', () => {
  it('is decided again from the first read, at the cost of one check, at most three times', async () => {
    let links = 0;
    const { call, paid } = createUserUnderTest(table, {
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          link: async (...args) => {
            links += 1;
            return links < 3 ? notWritten('person_changed' as const) : deps.users.link(...args);
          },
        },
      }),
    });
    expect((await call({ body: await newBuyer() })).status).toBe(201);
    expect([links, paid]).toEqual([3, { identity: 1, ownership: 1 }]);
  });

  it('is service_unavailable with Retry-After after the third time, and the next request links the person', async () => {
    const body = await newBuyer();
    const { call, paid } = createUserUnderTest(table, {
      deps: (deps) => ({ ...deps, users: { ...deps.users, link: async () => notWritten('buyer_gone') } }),
    });
    const { status, json, headers } = await call({ body });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
    expect((await createUser().call({ body })).status).toBe(201);
  });

  it('is no limit on checks: the fifth check of a minute is linked although the person changed once', async () => {
    const body = await newBuyer();
    let isFirst = true;
    const { call, registry } = createUserUnderTest(table, {
      registry: { identity: unavailableBecause('upstream') },
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          link: async (...args) => {
            if (!isFirst) return deps.users.link(...args);
            isFirst = false;
            return notWritten('person_changed');
          },
        },
      }),
    });
    for (const _ of [1, 2, 3, 4]) await call({ body });
    registry.identity = 'matched';
    expect((await call({ body })).status).toBe(201);
  });
});

describe('500', () => {
  it('is internal with a fixed text when a registry breaks, and the next request is checked', async () => {
    const person = await newBuyer();
    const { call, lines, registry } = createUser({ identity: new Error(`secret of ${person.national_id}`) });
    const { status, json } = await call({ body: person });
    expect([status, json.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(json)).not.toContain('secret');
    expect(lines.join()).toContain('secret of [redacted]');
    expect(lines.join()).not.toContain(person.national_id);
    registry.identity = 'matched';
    expect((await call({ body: person })).status).toBe(201);
  });
});

describe('what is stored and logged', () => {
  it('holds no national id, no birth date of a failed check, and no phone in a key', async () => {
    const person = { ...(await newBuyer()), birth_date: '1367/7/7' };
    const { call, lines, registry } = createUser({ identity: 'not_found' });
    await call({ body: person });
    const counts = JSON.stringify(await itemsWithPrefix('LIMIT#person:sel_test#'));
    expect(counts).toContain('failed-checks');
    expect(counts).not.toContain('1988-09-29');
    registry.identity = 'matched';
    await call({ body: person });
    const items = await itemsWithPrefix('');
    expect(JSON.stringify(items)).toContain('1988-09-29');
    expect(JSON.stringify(items)).not.toContain(person.national_id);
    expect(JSON.stringify(items.map(({ pk, sk }) => [pk, sk]))).not.toContain(person.phone.slice(-9));
    expect(lines.join()).toContain('request_completed');
    expect(lines.join()).not.toContain(person.phone.slice(-9));
  });
});
