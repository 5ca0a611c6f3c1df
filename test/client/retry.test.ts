import { jest } from '@jest/globals';
import { PROBLEMS, problemBody, type ProblemCode as ServiceCode } from '#shared/problems.ts';
import { buyerLinking, isProblem, ProblemError } from '../../client/src/index.ts';

const baseUrl = 'https://api.example.com/dev';
const apiKey = 'blk_test_of_a_test';

const buyer = {
  national_id: '9999150829',
  birth_date: '1370/1/15',
  phone: '+989121234567',
  display_name: 'Sara Ahmadi',
};

const user = { id: 'usr_1', ...buyer, national_id: '******0829', created_at: '2026-11-21T08:30:00.000Z' };

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers });

const problemOf = (code: ServiceCode, headers: Record<string, string> = {}) =>
  json(PROBLEMS[code].status, problemBody(code, 'req-1'), {
    'Content-Type': 'application/problem+json',
    ...headers,
  });

const broken = (): Response => {
  throw new TypeError('fetch failed');
};

/** A client of a service that returns these responses in order, and throws on any further request. */
const clientOf = (...responses: (() => Response)[]) => {
  const sent: Request[] = [];
  const waits: number[] = [];
  const client = buyerLinking({
    baseUrl,
    apiKey,
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms);
    },
    fetch: async (request) => {
      sent.push(request);
      const respond = responses[sent.length - 1];
      if (respond === undefined) throw new Error('unexpected request');
      return respond();
    },
  });
  return { client, sent, waits };
};

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

describe('the API key', () => {
  afterEach(() => jest.restoreAllMocks());

  const inEnvironment = (value: string) =>
    jest.replaceProperty(process, 'env', { BUYER_LINKING_API_KEY: value });

  it('is read from the environment if the options have none', async () => {
    inEnvironment('blk_test_from_the_environment');
    const fetch = jest.fn(async (_request: Request) => Response.json({ keys: [] }));
    await buyerLinking({ baseUrl, fetch }).listUsers();
    expect(fetch.mock.calls[0]?.[0].headers.get('X-Api-Key')).toBe('blk_test_from_the_environment');
  });

  it('is required when the client is created', () => {
    inEnvironment('');
    expect(() => buyerLinking({ baseUrl })).toThrow('BUYER_LINKING_API_KEY');
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

  it('of a proxy is thrown as an Error that is no ProblemError', async () => {
    const { client } = clientOf(() => new Response('<h1>Forbidden</h1>', { status: 403 }));
    const error = await client.listUsers().catch((caught: unknown) => caught);
    expect(error).not.toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ message: expect.stringContaining('403') });
  });
});

describe('linking, reading and removing', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a gateway timeout', json(504, {})],
    ['an unavailable registry', problemOf('verification_unavailable', { 'Retry-After': '1' })],
    ['an internal error', problemOf('internal')],
    ['an exceeded rate limit', problemOf('rate_limit_exceeded', { 'Retry-After': '2' })],
  ])('are retried with the same body after %s', async (_title, failure) => {
    const { client, sent } = clientOf(failure, json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toMatchObject({ user });
    await expect(sent[1]?.json()).resolves.toEqual(buyer);
  });

  it('are retried after the seconds of Retry-After', async () => {
    const { client, waits } = clientOf(
      problemOf('rate_limit_exceeded', { 'Retry-After': '7' }),
      json(201, user),
    );
    await client.linkBuyer(buyer);
    expect(waits).toEqual([7000]);
  });

  it('are retried with exponential backoff if there is no Retry-After', async () => {
    const { client, waits } = clientOf(broken, broken, broken, json(201, user));
    await client.linkBuyer(buyer);
    expect(waits).toEqual([125, 250, 500]);
  });

  it('are retried at most three times', async () => {
    const { client, sent } = clientOf(broken, broken, broken, broken);
    await expect(client.listUsers()).rejects.toThrow('fetch failed');
    expect(sent).toHaveLength(4);
  });

  it('are not retried after a 4xx other than 429', async () => {
    const { client, sent } = clientOf(problemOf('validation_failed'));
    await expect(client.listUsers()).rejects.toMatchObject({ code: 'validation_failed' });
    expect(sent).toHaveLength(1);
  });

  it('are not retried if Retry-After is longer than maxWaitSeconds', async () => {
    const { client, sent } = clientOf(problemOf('rate_limit_exceeded', { 'Retry-After': '3600' }));
    await expect(client.linkBuyer(buyer)).rejects.toMatchObject({ retryAfterSeconds: 3600 });
    expect(sent).toHaveLength(1);
  });

  it('are not retried after the caller aborted', async () => {
    const aborted = AbortSignal.abort(new Error('aborted by the caller'));
    const { client, sent } = clientOf(broken);
    await expect(client.listUsers({}, { signal: aborted })).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });
});

describe('sending and verifying a code', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a gateway timeout', json(504, {})],
    ['an unavailable SMS provider', problemOf('sms_unavailable', { 'Retry-After': '1' })],
    ['an internal error', problemOf('internal')],
    ['a cool-down', problemOf('resend_too_soon', { 'Retry-After': '1' })],
  ])('are not retried after %s', async (_title, failure) => {
    const sending = clientOf(failure);
    await expect(sending.client.sendCode(buyer.phone)).rejects.toThrow();
    const using = clientOf(failure);
    await expect(using.client.verifyCode(buyer.phone, '123456')).rejects.toThrow();
    expect([sending.sent.length, using.sent.length]).toEqual([1, 1]);
  });

  it('are retried after rate_limit_exceeded', async () => {
    const { client, waits } = clientOf(
      problemOf('rate_limit_exceeded', { 'Retry-After': '3' }),
      json(202, { expires_in: 300, resend_after: 60 }),
    );
    await expect(client.sendCode(buyer.phone)).resolves.toEqual({ expires_in: 300, resend_after: 60 });
    expect(waits).toEqual([3000]);
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
    });

  it('requests every page in order, up to total_pages', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a', 'b']), pageOf(2, ['c']));
    const seen: string[] = [];
    for await (const { id } of client.users()) seen.push(id);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?page=1&page_size=100',
      '?page=2&page_size=100',
    ]);
  });

  it('continues after an empty page, because a page can hold removed users only', async () => {
    const { client } = clientOf(pageOf(1, ['a'], 3), pageOf(2, [], 3), pageOf(3, ['b'], 3));
    const seen: string[] = [];
    for await (const { id } of client.users()) seen.push(id);
    expect(seen).toEqual(['a', 'b']);
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
    const { client } = clientOf(json(200, { data: [], page: 1, page_size: 100, total: 0, total_pages: 0 }));
    await expect(client.users().next()).resolves.toEqual({ done: true, value: undefined });
  });
});

describe('one user', () => {
  it('is read by id', async () => {
    const { client, sent } = clientOf(json(200, user));
    await expect(client.getUser('usr_1')).resolves.toEqual(user);
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['GET', `${baseUrl}/v1/users/usr_1`]);
  });

  it('is found by phone, with the plus sign encoded', async () => {
    const { client, sent } = clientOf(
      json(200, { data: [user], page: 1, page_size: 100, total: 1, total_pages: 1 }),
    );
    await expect(client.findByPhone('+989121234567')).resolves.toEqual([user]);
    expect(new URL(sent[0]?.url ?? '').searchParams.get('phone')).toBe('+989121234567');
  });

  it('is removed, and a failed removal is retried', async () => {
    const { client, sent } = clientOf(broken, () => new Response(null, { status: 204 }));
    await expect(client.removeUser('usr_1')).resolves.toBeUndefined();
    expect(sent.map(({ method, url }) => [method, url])).toEqual([
      ['DELETE', `${baseUrl}/v1/users/usr_1`],
      ['DELETE', `${baseUrl}/v1/users/usr_1`],
    ]);
  });

  it('is reported as user_not_found if the id is unknown', async () => {
    const calls = [clientOf(problemOf('user_not_found')), clientOf(problemOf('user_not_found'))] as const;
    await expect(calls[0].client.getUser('usr_1')).rejects.toMatchObject({ code: 'user_not_found' });
    await expect(calls[1].client.removeUser('usr_1')).rejects.toMatchObject({ code: 'user_not_found' });
  });
});
