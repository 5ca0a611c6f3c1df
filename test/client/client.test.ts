import { mock } from 'node:test';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { type InputError, problemBody } from '#shared/problems.ts';
import type { paths } from '../../client/src/generated/openapi.ts';
import {
  type BuyerLinkingClient,
  buyerLinking,
  type Call,
  type EventQuery,
  isProblem,
  ProblemError,
  type UsageQuery,
  type UserQuery,
} from '../../client/src/index.ts';
import { apiKey, baseUrl, buyer, clientOf, json, problemOf, user } from './fake-service.ts';

describe('a link', () => {
  it('is sent to the base URL and its stage, with the key and a JSON body', async () => {
    const { client, sent } = clientOf(json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toEqual({ user, isNew: true });
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['POST', `${baseUrl}/v1/users`]);
    expect(sent[0]?.headers.get('X-Api-Key')).toBe(apiKey);
    await expect(sent[0]?.json()).resolves.toEqual(buyer);
  });
});

describe('a code', () => {
  it('is sent in Persian, or in the language that is named', async () => {
    const sentCode = json(202, { expires_in: 300, resend_after: 60 });
    const { client, sent } = clientOf(sentCode, sentCode);
    await client.sendCode({ phone: buyer.phone });
    await client.sendCode({ phone: buyer.phone, locale: 'en' });
    const bodies = (await Promise.all(sent.map((request) => request.json()))) as { locale: string }[];
    expect(bodies.map(({ locale }) => locale)).toEqual(['fa', 'en']);
  });
});

describe('the abort of a call', () => {
  const { display_name, ...person } = buyer;
  const { phone } = buyer;
  const token = { accessToken: 'a.b.c' };
  const calls: Readonly<Record<string, (client: BuyerLinkingClient, call: Call) => Promise<unknown>>> = {
    linkBuyer: (client, call) => client.linkBuyer(buyer, call),
    confirmBuyer: (client, call) => client.confirmBuyer(buyer, call),
    findByPhone: (client, call) => client.findByPhone(phone, call),
    listUsers: (client, call) => client.listUsers({}, call),
    users: (client, call) => client.users(call).next(),
    getUser: (client, call) => client.getUser(user.id, call),
    updateUser: (client, call) => client.updateUser(user.id, { display_name }, call),
    checkUser: (client, call) => client.checkUser(user.id, person, call),
    removeUser: (client, call) => client.removeUser(user.id, call),
    listEvents: (client, call) => client.listEvents({}, call),
    sendCode: (client, call) => client.sendCode({ phone }, call),
    verifyCode: (client, call) => client.verifyCode({ phone, code: '123456' }, call),
    key: (client, call) => client.key(call),
    usage: (client, call) => client.usage({}, call),
    rotateKey: (client, call) => client.rotateKey({ grace_hours: 1 }, call),
    findLinks: (client, call) => client.findLinks(person, { ...token, ...call }),
    endLink: (client, call) => client.endLink('lnk_2Yh0c9QmVnTqk3bJx1LwZA', { ...token, ...call }),
  };

  it.each(Object.entries(calls))(
    'ends %s with the reason of the abort, after one request',
    async (_name, call) => {
      const reason = new Error('aborted by the caller');
      const fetch = mock.fn(async (request: Request) =>
        Promise.reject(request.signal.reason ?? 'not aborted'),
      );
      const client = buyerLinking({ baseUrl, apiKey, fetch });
      await expect(call(client, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(fetch.mock.callCount()).toBe(1);
    },
  );

  it('is tested for every method but events, whose tests have it', () => {
    const methods = Object.keys(buyerLinking({ baseUrl, apiKey })).filter((name) => name !== 'events');
    expect(Object.keys(calls).sort()).toEqual(methods.sort());
  });
});

describe('the links of a buyer', () => {
  const id = 'lnk_2Yh0c9QmVnTqk3bJx1LwZA';
  const link = {
    id,
    seller: { id: 'sel_1', name: 'Kaveh Books' },
    display_name: 'Sara Ahmadi',
    linked_at: '2026-11-21T08:30:00.000Z',
  };

  it('are found and ended with the access token', async () => {
    const { client, sent } = clientOf(json(200, { data: [link] }), () => new Response(null, { status: 204 }));
    const person = { national_id: '9999150829', birth_date: '1370/1/15' };
    await expect(client.findLinks(person, { accessToken: 'a.b.c' })).resolves.toEqual([link]);
    await client.endLink(id, { accessToken: 'a.b.c' });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `POST ${baseUrl}/v1/buyer/links/find`,
      `DELETE ${baseUrl}/v1/buyer/links/${id}`,
    ]);
    expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual(['Bearer a.b.c', 'Bearer a.b.c']);
  });

  it('are made again with the token of a new sign-in', async () => {
    const { client, sent } = clientOf(json(201, user));
    await client.linkBuyer(buyer, { accessToken: 'a.b.c' });
    expect(sent[0]?.headers.get('Authorization')).toBe('Bearer a.b.c');
  });
});

describe('the use of the key', () => {
  it('is asked for as many days as are named, or for those of the service', async () => {
    const { client, sent } = clientOf(json(200, {}), json(200, {}));
    await client.usage();
    await client.usage({ days: 3 });
    expect(sent.map(({ url }) => url)).toEqual([`${baseUrl}/v1/key/usage`, `${baseUrl}/v1/key/usage?days=3`]);
  });
});

describe('the key', () => {
  it('loses the line break at its end that a file has', async () => {
    const fetch = mock.fn(async (_request: Request) => Response.json(user));
    await buyerLinking({ baseUrl, apiKey: `${apiKey}\r\n`, fetch }).getUser('usr_0000000000000000000001');
    expect(fetch.mock.calls[0]?.arguments[0].headers.get('X-Api-Key')).toBe(apiKey);
  });

  it.each(['blk_test_a\nb', 'blk_test_\u200b', 'blk test'])(
    'is rejected without being shown when no key is like it: %j',
    (wrong) => {
      expect(() => buyerLinking({ baseUrl, apiKey: wrong })).toThrow(
        /^The API key has a character that no key has\.$/,
      );
    },
  );
});

describe('the base URL', () => {
  it.each([
    'localhost:3000',
    'api.example.com/prod',
    '//api.example.com',
    'ftp://api.example.com',
    'https://user:secret@api.example.com',
    'http://localhost@example.com',
  ])('is rejected with an example of a right one when it is "%s"', (wrong) => {
    expect(() => buyerLinking({ baseUrl: wrong, apiKey })).toThrow(
      new Error('baseUrl must be a URL with its scheme, such as https://api.example.com/prod.'),
    );
  });

  it.each(['http://api.example.com', 'HTTP://10.0.0.1/dev', 'http://localhost.example.com'])(
    'is rejected when it is "%s", because http would send the key unencrypted',
    (wrong) => {
      expect(() => buyerLinking({ baseUrl: wrong, apiKey })).toThrow(
        new Error('baseUrl must begin with https://, except on loopback.'),
      );
    },
  );

  it.each([
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000/dev',
    'https://api.example.com',
  ])('can be %s', (right) => {
    expect(() => buyerLinking({ baseUrl: right, apiKey })).not.toThrow();
  });

  it('can end with a slash', async () => {
    const fetch = mock.fn(async (_request: Request) => Response.json(user));
    await buyerLinking({ baseUrl: `${baseUrl}/`, apiKey, fetch }).getUser('usr_0000000000000000000001');
    expect(fetch.mock.calls[0]?.arguments[0].url).toBe(`${baseUrl}/v1/users/usr_0000000000000000000001`);
  });
});

describe('address and key', () => {
  afterEach(() => mock.restoreAll());

  const inEnvironment = (key: string, url = '') =>
    mock.property(process, 'env', { BUYER_LINKING_API_KEY: key, BUYER_LINKING_URL: url });

  it('are read from the environment if the options have none', async () => {
    inEnvironment('blk_test_from_the_environment', baseUrl);
    const fetch = mock.fn(async (_request: Request) => Response.json({ keys: [] }));
    await buyerLinking({ fetch }).listUsers();
    expect(fetch.mock.calls[0]?.arguments[0].url).toBe(`${baseUrl}/v1/users`);
    expect(fetch.mock.calls[0]?.arguments[0].headers.get('X-Api-Key')).toBe('blk_test_from_the_environment');
  });

  it('are not shown when they are swapped', () => {
    inEnvironment(baseUrl, apiKey);
    expect(() => buyerLinking()).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(apiKey) }),
    );
  });

  it('are required when the client is created', () => {
    inEnvironment('');
    expect(() => buyerLinking({ baseUrl })).toThrow('BUYER_LINKING_API_KEY');
    expect(() => buyerLinking({ apiKey })).toThrow('BUYER_LINKING_URL');
    expect(() => buyerLinking({ apiKey, baseUrl: '' })).toThrow('BUYER_LINKING_URL');
  });
});

describe('a returning buyer', () => {
  const pageOf = (...data: object[]) => json(200, { data, next_after: null });
  const removed = () => new Response(null, { status: 204 });
  const other = { ...user, id: 'usr_0000000000000000000002' };
  const conflict = json(409, problemBody('user_conflict', 'req-1', { user_id: user.id }));
  const requestsOf = (sent: readonly Request[]) =>
    sent.map(({ method, url }) => `${method} ${url.slice(baseUrl.length)}`);
  const FIND = 'GET /v1/users?phone=%2B989121234567&page_size=100';

  it('is found by phone, with the whole days since the check of the user that was checked last', async () => {
    const checked_at = new Date(Date.now() - 3.9 * 86_400_000).toISOString();
    const { client } = clientOf(pageOf({ ...user, checked_at }, other), pageOf());
    await expect(client.findByPhone(buyer.phone)).resolves.toEqual({
      users: [{ ...user, checked_at }, other],
      daysSinceCheck: 3,
    });
    await expect(client.findByPhone(buyer.phone)).resolves.toEqual({ users: [], daysSinceCheck: undefined });
  });

  it.each([
    ['a new user, without a check', json(201, user), [], true],
    ['a known user after a check', json(200, user), [json(200, user)], false],
    ['the user of user_conflict after a check', conflict, [json(200, user)], false],
  ] as const)(
    'is confirmed as %s; the other users of the phone are removed',
    async (_case, linked, checks, isNew) => {
      const { client, sent } = clientOf(linked, ...checks, pageOf(other, user), removed);
      await expect(client.confirmBuyer(buyer)).resolves.toEqual({ user, isNew });
      expect(requestsOf(sent)).toEqual([
        'POST /v1/users',
        ...checks.map(() => `POST /v1/users/${user.id}/checks`),
        FIND,
        `DELETE /v1/users/${other.id}`,
      ]);
    },
  );

  it('is not confirmed before the other users of the phone are removed', async () => {
    const failure = problemOf('insufficient_scope');
    const { client } = clientOf(json(201, user), pageOf(other, user), failure);
    await expect(client.confirmBuyer(buyer)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('is nobody after a check against the person, and no user is removed', async () => {
    const { client, sent } = clientOf(json(200, user), problemOf('phone_not_owned'));
    await expect(client.confirmBuyer(buyer)).rejects.toMatchObject({ code: 'phone_not_owned' });
    expect(requestsOf(sent)).toEqual(['POST /v1/users', `POST /v1/users/${user.id}/checks`]);
  });
});

describe('the end of the key', () => {
  const END = '2026-12-01T00:00:00Z';
  const LATER = '2026-12-03T00:00:00Z';

  /** A client whose responses announce these ends in order, and what it passed on. */
  const announced = (ends: readonly (string | null)[]) => {
    const passed: Date[] = [];
    const responses = ends.map((end) =>
      end === null ? new Headers() : new Headers({ 'X-Api-Key-Expires-At': end }),
    );
    const client = buyerLinking({
      baseUrl,
      apiKey,
      onKeyExpiring: (expiresAt) => passed.push(expiresAt),
      sleep: async () => {},
      fetch: async ({ url }) => {
        const headers = Object.fromEntries(responses.shift() ?? []);
        if (!url.includes('/v1/events')) return json(201, user, headers)();
        return json(200, { data: [{ sequence: 1 }], last_sequence: 1, has_more: false }, headers)();
      },
    });
    return { client, passed };
  };

  it('is passed to onKeyExpiring once for each end, also if responses name the old and the new one in turn', async () => {
    const { client, passed } = announced([null, END, END, LATER, END, LATER]);
    for (let calls = 0; calls < 6; calls += 1) await client.linkBuyer(buyer);
    expect(passed).toEqual([new Date(END), new Date(LATER)]);
  });

  it('is passed once, whether a call or the events announce it', async () => {
    const { client, passed } = announced([END, END, END, LATER, LATER]);
    const events = client.events();
    await client.linkBuyer(buyer);
    await events.next();
    await client.linkBuyer(buyer);
    await events.next();
    await client.linkBuyer(buyer);
    expect(passed).toEqual([new Date(END), new Date(LATER)]);
  });

  it('is passed after an error response too', async () => {
    const passed: Date[] = [];
    const fetch = async () => problemOf('user_conflict', { 'X-Api-Key-Expires-At': END })();
    const client = buyerLinking({ baseUrl, apiKey, fetch, onKeyExpiring: (end) => passed.push(end) });
    await expect(client.linkBuyer(buyer)).rejects.toMatchObject({ code: 'user_conflict' });
    expect(passed).toEqual([new Date(END)]);
  });
});

describe('an error response', () => {
  it('is thrown as a ProblemError with the problem of the service, whose detail is in its message', async () => {
    const { client } = clientOf(problemOf('user_conflict'));
    const error = await client.linkBuyer(buyer).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProblemError);
    const { problem } = error as ProblemError;
    expect(problem).toMatchObject({ code: 'user_conflict', status: 409, request_id: 'req-1' });
    expect(error).toMatchObject({
      name: 'ProblemError',
      code: 'user_conflict',
      status: 409,
      requestId: 'req-1',
      reason: undefined,
      errors: [],
      message: `user_conflict: ${problem.detail} (request req-1)`,
    });
    expect([isProblem(error, 'user_conflict'), isProblem(error, 'phone_not_owned')]).toEqual([true, false]);
  });

  it('has every wrong field in its message', async () => {
    const errors: InputError[] = [
      { pointer: '#/phone', code: 'required', detail: 'Is required.' },
      { parameter: 'page', code: 'invalid', detail: 'Must be an integer from 1 to 9007199254740991.' },
    ];
    const { client } = clientOf(
      problemOf('validation_failed', {}, errors),
      problemOf('validation_failed', {}, errors),
    );
    await expect(client.listUsers()).rejects.toMatchObject({ errors });
    await expect(client.listUsers()).rejects.toThrow(
      'validation_failed: #/phone: Is required. page: Must be an integer from 1 to 9007199254740991. (request req-1)',
    );
  });

  it.each([
    ['HTML', '<h1>Forbidden</h1>'],
    ['a problem of something else', '{"code":"user_conflict","detail":"No."}'],
    ['JSON with another kind of code', '{"code":403,"request_id":"req-1"}'],
    ['null', 'null'],
    ['a text', '"Forbidden"'],
  ])('of a proxy is thrown as an Error that is no ProblemError: %s', async (_what, body) => {
    const { client } = clientOf(() => new Response(body, { status: 403 }));
    const error = await client.listUsers().catch((caught: unknown) => caught);
    expect(error).not.toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      message: `GET ${baseUrl}/v1/users: status 403, with a body that is not from the service.`,
    });
  });
});

describe('a success without a body', () => {
  it('is thrown as an Error where the service returns one, since it is not from the service', async () => {
    const { client } = clientOf(() => new Response(null, { status: 204 }));
    await expect(client.getUser(user.id)).rejects.toThrow(
      'Status 204, with a body that is not from the service.',
    );
  });
});

describe('a rotation', () => {
  it('leaves the old secret valid for 24 hours, or for as many as are named', async () => {
    const { client, sent } = clientOf(json(201, {}), json(201, {}));
    await client.rotateKey();
    await client.rotateKey({ grace_hours: 1 });
    const bodies = await Promise.all(sent.map((request) => request.json()));
    expect(bodies).toEqual([{ grace_hours: 24 }, { grace_hours: 1 }]);
  });
});

describe('a request without a response', () => {
  it('is thrown as an Error with the address, without the query, and the innermost cause', async () => {
    const cause = new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:3000')]);
    const failure = new TypeError('fetch failed', { cause });
    const client = buyerLinking({ baseUrl, apiKey, maxRetries: 0, fetch: () => Promise.reject(failure) });
    const error = await client.listUsers({ phone: buyer.phone }).catch((caught: unknown) => caught);
    expect(error).toEqual(
      new Error(`GET ${baseUrl}/v1/users: no response: connect ECONNREFUSED 127.0.0.1:3000`, {
        cause: failure,
      }),
    );
  });

  it('names the address at which nothing listens', async () => {
    const closed = await listenOnLoopback(0, async () => {});
    await closed.close();
    const client = buyerLinking({ baseUrl: `http://localhost:${closed.port}`, apiKey, maxRetries: 0 });
    const message = `GET http://localhost:${closed.port}/v1/key: no response: connect ECONNREFUSED`;
    await expect(client.key()).rejects.toThrow(message);
  });
});

describe('a redirect', () => {
  it('is not followed and not retried, because it would take the key and the body to another address', async () => {
    const received: string[] = [];
    const other = await listenOnLoopback(0, async (request, response) => {
      received.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    const service = await listenOnLoopback(0, async (request, response) => {
      received.push(`${request.method} ${request.url}`);
      response.writeHead(307, { Location: `http://localhost:${other.port}${request.url}` }).end();
    });
    const client = buyerLinking({ baseUrl: `http://localhost:${service.port}`, apiKey });
    const error = await client.linkBuyer(buyer).catch((caught: unknown) => caught);
    await Promise.all([service.close(), other.close()]);
    expect(error).toMatchObject({ message: expect.stringContaining('status 307') });
    expect(received).toEqual(['POST /v1/users']);
  });
});

describe('reading all users', () => {
  const pageOf = (ids: readonly string[], next_after: string | null) =>
    json(200, { data: ids.map((id) => ({ ...user, id })), page_size: 100, total: 3, next_after });

  it('reads on after the last user of each page, so that changes meanwhile skip and repeat nobody', async () => {
    const { client, sent } = clientOf(pageOf(['a', 'b'], 'b'), pageOf(['v'], 'v'), pageOf(['w'], null));
    const seen: string[] = [];
    for await (const { id } of client.users()) seen.push(id);
    expect(seen).toEqual(['a', 'b', 'v', 'w']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?page_size=100',
      '?page_size=100&after=b',
      '?page_size=100&after=v',
    ]);
  });

  it('requests no page before it is read', async () => {
    const { client, sent } = clientOf(pageOf(['a', 'b'], 'b'));
    const users = client.users();
    await users.next();
    await users.return();
    expect(sent).toHaveLength(1);
  });

  it('returns nothing for a seller without users', async () => {
    const { client } = clientOf(pageOf([], null));
    await expect(client.users().next()).resolves.toEqual({ done: true, value: undefined });
  });
});

describe('the hand-written queries', () => {
  type QueryOf<Path extends keyof paths> = NonNullable<
    NonNullable<paths[Path]['get']>['parameters']['query']
  >;
  /** Compiles only if both types have the same names. */
  const haveSameNames = <Own, Api>(
    ..._same: [keyof Own, keyof Api] extends [keyof Api, keyof Own] ? [] : [never]
  ): boolean => true;

  it('have the parameters of the service', () => {
    expect([
      haveSameNames<UserQuery, QueryOf<'/v1/users'>>(),
      haveSameNames<EventQuery, QueryOf<'/v1/events'>>(),
      haveSameNames<UsageQuery, QueryOf<'/v1/key/usage'>>(),
    ]).toEqual([true, true, true]);
  });
});

describe('one user', () => {
  it('is refused by an id that could name another path, before a request', async () => {
    const { client, sent } = clientOf();
    const calls = [
      () => client.getUser('.'),
      () => client.getUser('usr_1/../x?y'),
      () => client.removeUser(''),
      () => client.updateUser('..', { display_name: 'Sara' }),
      () =>
        client.checkUser('..', {
          national_id: '9990777772',
          birth_date: '1370/1/15',
          phone: '+989559990001',
        }),
      () => client.endLink('.', { accessToken: 'a.b.c' }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });
});
