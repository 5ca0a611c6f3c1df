import { mock } from 'node:test';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { buyerLinking, isProblem, ProblemError } from '../../client/src/index.ts';
import { apiKey, baseUrl, broken, buyer, clientOf, json, problemOf, user } from './fake-service.ts';

describe('a link', () => {
  it('is sent to the base URL and its stage, with the key and a JSON body', async () => {
    const { client, sent } = clientOf(json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toEqual({ user, isNew: true });
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['POST', `${baseUrl}/v1/users`]);
    expect(sent[0]?.headers.get('X-Api-Key')).toBe(apiKey);
    await expect(sent[0]?.json()).resolves.toEqual(buyer);
  });

  it('states whether the buyer was linked before', async () => {
    const { client } = clientOf(json(200, user));
    await expect(client.linkBuyer(buyer)).resolves.toEqual({ user, isNew: false });
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
    await expect(client.findLinks('a.b.c', person)).resolves.toEqual([link]);
    await client.endLink('a.b.c', id);
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
    await client.usage(3);
    expect(sent.map(({ url }) => url)).toEqual([`${baseUrl}/v1/key/usage`, `${baseUrl}/v1/key/usage?days=3`]);
  });
});

describe('the base URL', () => {
  it.each(['localhost:3000', 'api.example.com/prod', '//api.example.com', 'ftp://api.example.com', ''])(
    'is rejected with an example of a right one when it is "%s"',
    (wrong) => {
      expect(() => buyerLinking({ baseUrl: wrong, apiKey })).toThrow(
        `baseUrl must be a URL with its scheme, such as https://api.example.com/prod, and not "${wrong}".`,
      );
    },
  );

  it.each([
    'http://api.example.com',
    'HTTP://10.0.0.1/dev',
    'http://localhost.example.com',
    'http://localhost@example.com',
  ])('is rejected when it is "%s", because http would send the key unencrypted', (wrong) => {
    expect(() => buyerLinking({ baseUrl: wrong, apiKey })).toThrow(
      `baseUrl must begin with https://, except on loopback, and not "${wrong}".`,
    );
  });

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

describe('the API key', () => {
  afterEach(() => mock.restoreAll());

  const inEnvironment = (value: string) => mock.property(process, 'env', { BUYER_LINKING_API_KEY: value });

  it('is read from the environment if the options have none', async () => {
    inEnvironment('blk_test_from_the_environment');
    const fetch = mock.fn(async (_request: Request) => Response.json({ keys: [] }));
    await buyerLinking({ baseUrl, fetch }).listUsers();
    expect(fetch.mock.calls[0]?.arguments[0].headers.get('X-Api-Key')).toBe('blk_test_from_the_environment');
  });

  it('is required when the client is created', () => {
    inEnvironment('');
    expect(() => buyerLinking({ baseUrl })).toThrow('BUYER_LINKING_API_KEY');
  });
});

describe('the end of the key', () => {
  const END = '2026-12-01T00:00:00Z';
  const LATER = '2026-12-03T00:00:00Z';

  it('is passed to onKeyExpiring once, and again when it has changed', async () => {
    const ends: Date[] = [];
    const announced = [null, END, END, LATER];
    const client = buyerLinking({
      baseUrl,
      apiKey,
      onKeyExpiring: (expiresAt) => ends.push(expiresAt),
      fetch: async () => {
        const end = announced.shift();
        return json(201, user, end == null ? {} : { 'X-Api-Key-Expires-At': end })();
      },
    });
    for (let calls = 0; calls < 4; calls += 1) await client.linkBuyer(buyer);
    expect(announced).toEqual([]);
    expect(ends).toEqual([new Date(END), new Date(LATER)]);
  });
});

describe('an error response', () => {
  it('is thrown as a ProblemError with the problem of the service', async () => {
    const { client } = clientOf(problemOf('user_conflict'));
    const error = await client.linkBuyer(buyer).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ code: 'user_conflict', status: 409, requestId: 'req-1' });
    expect([isProblem(error, 'user_conflict'), isProblem(error, 'phone_not_owned')]).toEqual([true, false]);
  });

  it('has the seconds of Retry-After', async () => {
    const { client } = clientOf(problemOf('resend_too_soon', { 'Retry-After': '42' }));
    await expect(client.sendCode(buyer.phone)).rejects.toMatchObject({ retryAfterSeconds: 42 });
  });

  it('has every wrong field in its message', async () => {
    const errors = [
      { pointer: '#/phone', detail: 'Is required.' },
      { parameter: 'page', detail: 'Must be an integer of at least 1.' },
    ];
    const { client } = clientOf(problemOf('validation_failed', {}, errors));
    await expect(client.listUsers()).rejects.toThrow(
      'validation_failed: #/phone: Is required. page: Must be an integer of at least 1. (request req-1)',
    );
  });

  it('of a proxy is thrown as an Error that is no ProblemError', async () => {
    const { client } = clientOf(() => new Response('<h1>Forbidden</h1>', { status: 403 }));
    const error = await client.listUsers().catch((caught: unknown) => caught);
    expect(error).not.toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ message: expect.stringContaining('403') });
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
    expect(error).toMatchObject({ message: expect.stringContaining('Status 307') });
    expect(received).toEqual(['POST /v1/users']);
  });
});

describe('reading all users', () => {
  const pageOf = (page: number, ids: string[], totalPages = 2) =>
    json(200, {
      data: ids.map((id) => ({ ...user, id })),
      page,
      page_size: 100,
      total: 3,
      total_pages: totalPages,
      next_after: page < totalPages ? (ids.at(-1) ?? null) : null,
    });

  it('requests every page in order, up to total_pages', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a', 'b']), pageOf(2, ['c']));
    const seen: string[] = [];
    for await (const { data } of client.pages()) seen.push(...data.map(({ id }) => id));
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?page=1&page_size=100',
      '?page=2&page_size=100',
    ]);
  });

  it('reads all users by the id of the last one, so that changes meanwhile skip and repeat nobody', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => `u${index}`);
    const reply = (ids: readonly string[], next_after: string | null) =>
      json(200, { data: ids.map((id) => ({ ...user, id })), page_size: 100, total: 3, next_after });
    const { client, sent } = clientOf(pageOf(1, hundred, 3), reply(['v'], 'v'), reply(['w'], null));
    const seen: string[] = [];
    for await (const { id } of client.users()) seen.push(id);
    expect(seen).toEqual([...hundred, 'v', 'w']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?page_size=100',
      '?after=u99&page_size=100',
      '?after=v&page_size=100',
    ]);
  });

  it('stops at the last page if the number of pages shrinks meanwhile', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a'], 3), pageOf(2, [], 1));
    const pages: number[] = [];
    for await (const { page } of client.pages()) pages.push(page);
    expect(pages).toEqual([1, 2]);
    expect(sent).toHaveLength(2);
  });

  it('requests no page before it is read', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a', 'b']));
    const users = client.users();
    await users.next();
    await users.return();
    expect(sent).toHaveLength(1);
  });

  it('returns nothing for a seller without users', async () => {
    const { client } = clientOf(
      json(200, { data: [], page: 1, page_size: 100, total: 0, total_pages: 0, next_after: null }),
    );
    await expect(client.users().next()).resolves.toEqual({ done: true, value: undefined });
  });
});

describe('one user', () => {
  it('is read by id', async () => {
    const { client, sent } = clientOf(json(200, user));
    await expect(client.getUser('usr_0000000000000000000001')).resolves.toEqual(user);
    expect([sent[0]?.method, sent[0]?.url]).toEqual([
      'GET',
      `${baseUrl}/v1/users/usr_0000000000000000000001`,
    ]);
  });

  it('is found by phone, with the plus sign encoded', async () => {
    const { client, sent } = clientOf(
      json(200, { data: [user], page: 1, page_size: 100, total: 1, total_pages: 1, next_after: null }),
    );
    await expect(client.findByPhone('+989121234567')).resolves.toEqual([user]);
    expect(new URL(sent[0]?.url ?? '').searchParams.get('phone')).toBe('+989121234567');
  });

  it('is removed, and a failed removal is retried', async () => {
    const { client, sent } = clientOf(broken, () => new Response(null, { status: 204 }));
    await expect(client.removeUser('usr_0000000000000000000001')).resolves.toBeUndefined();
    expect(sent.map(({ method, url }) => [method, url])).toEqual([
      ['DELETE', `${baseUrl}/v1/users/usr_0000000000000000000001`],
      ['DELETE', `${baseUrl}/v1/users/usr_0000000000000000000001`],
    ]);
  });

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
      () => client.endLink('a.b.c', '.'),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it('is reported as user_not_found if the id is unknown', async () => {
    const calls = [clientOf(problemOf('user_not_found')), clientOf(problemOf('user_not_found'))] as const;
    await expect(calls[0].client.getUser('usr_0000000000000000000001')).rejects.toMatchObject({
      code: 'user_not_found',
    });
    await expect(calls[1].client.removeUser('usr_0000000000000000000001')).rejects.toMatchObject({
      code: 'user_not_found',
    });
  });
});
