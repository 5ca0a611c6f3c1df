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

const refusal = (code: ServiceCode, headers: Record<string, string> = {}) =>
  json(PROBLEMS[code].status, problemBody(code, 'req-1'), {
    'Content-Type': 'application/problem+json',
    ...headers,
  });

const broken = (): Response => {
  throw new TypeError('fetch failed');
};

/** A client of a service that responses one thing after the other; it fails the test if it is called more often. */
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
      const answer = responses[sent.length - 1];
      if (answer === undefined) throw new Error('one call too many');
      return answer();
    },
  });
  return { client, sent, waits };
};

describe('a request', () => {
  it('goes to the base URL under its stage, with the key and a JSON body', async () => {
    const { client, sent } = clientOf(json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toEqual({ user, isNew: true });
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['POST', `${baseUrl}/v1/users`]);
    expect(sent[0]?.headers.get('X-Api-Key')).toBe(apiKey);
    await expect(sent[0]?.json()).resolves.toEqual(buyer);
  });

  it('tells a buyer linked before from a new one', async () => {
    const { client } = clientOf(json(200, user));
    await expect(client.linkBuyer(buyer)).resolves.toEqual({ user, isNew: false });
  });
});

describe('the key', () => {
  afterEach(() => jest.restoreAllMocks());

  const inEnvironment = (value: string) =>
    jest.replaceProperty(process, 'env', { BUYER_LINKING_API_KEY: value });

  it('comes from the environment if none is given', async () => {
    inEnvironment('blk_test_from_the_environment');
    const fetch = jest.fn(async (_request: Request) => Response.json({ keys: [] }));
    await buyerLinking({ baseUrl, fetch }).listUsers();
    expect(fetch.mock.calls[0]?.[0].headers.get('X-Api-Key')).toBe('blk_test_from_the_environment');
  });

  it('is missed at once, and not at the first call', () => {
    inEnvironment('');
    expect(() => buyerLinking({ baseUrl })).toThrow('BUYER_LINKING_API_KEY');
  });
});

describe('a refusal', () => {
  it('is thrown as the problem that the service named', async () => {
    const { client } = clientOf(refusal('user_conflict'));
    const error = await client.linkBuyer(buyer).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ code: 'user_conflict', status: 409, requestId: 'req-1' });
    expect([isProblem(error, 'user_conflict'), isProblem(error, 'phone_not_owned')]).toEqual([true, false]);
  });

  it('says how long to wait where the service does', async () => {
    const { client } = clientOf(refusal('resend_too_soon', { 'Retry-After': '42' }));
    await expect(client.sendCode(buyer.phone)).rejects.toMatchObject({ retryAfterSeconds: 42 });
  });

  it('that is not the service’s own is no problem of its', async () => {
    const { client } = clientOf(() => new Response('<h1>Forbidden</h1>', { status: 403 }));
    const error = await client.listUsers().catch((caught: unknown) => caught);
    expect(error).not.toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ message: expect.stringContaining('403') });
  });
});

describe('linking and listing are tried again', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a time-out of a gateway', json(504, {})],
    ['a registry that could not answer', refusal('verification_unavailable', { 'Retry-After': '1' })],
    ['an internal error', refusal('internal')],
    ['a full plan', refusal('rate_limit_exceeded', { 'Retry-After': '2' })],
  ])('after %s, with the same body', async (_title, failure) => {
    const { client, sent } = clientOf(failure, json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toMatchObject({ user });
    await expect(sent[1]?.json()).resolves.toEqual(buyer);
  });

  it('after just as long as Retry-After says', async () => {
    const { client, waits } = clientOf(
      refusal('rate_limit_exceeded', { 'Retry-After': '7' }),
      json(201, user),
    );
    await client.linkBuyer(buyer);
    expect(waits).toEqual([7000]);
  });

  it('after longer and longer pauses where nothing says how long', async () => {
    const { client, waits } = clientOf(broken, broken, broken, json(201, user));
    await client.linkBuyer(buyer);
    expect(waits).toEqual([125, 250, 500]);
  });

  it('three times and no more', async () => {
    const { client, sent } = clientOf(broken, broken, broken, broken);
    await expect(client.listUsers()).rejects.toThrow('fetch failed');
    expect(sent).toHaveLength(4);
  });

  it('but not after a refusal that a second try would meet again', async () => {
    const { client, sent } = clientOf(refusal('validation_failed'));
    await expect(client.listUsers()).rejects.toMatchObject({ code: 'validation_failed' });
    expect(sent).toHaveLength(1);
  });

  it('but not where the wait would be longer than a caller expects', async () => {
    const { client, sent } = clientOf(refusal('rate_limit_exceeded', { 'Retry-After': '3600' }));
    await expect(client.linkBuyer(buyer)).rejects.toMatchObject({ retryAfterSeconds: 3600 });
    expect(sent).toHaveLength(1);
  });

  it('but not once the caller has given up', async () => {
    const gaveUp = AbortSignal.abort(new Error('gave up'));
    const { client, sent } = clientOf(broken);
    await expect(client.listUsers({}, { signal: gaveUp })).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });
});

describe('a code is never sent or used twice by itself', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a time-out of a gateway', json(504, {})],
    ['an SMS provider that failed', refusal('sms_unavailable', { 'Retry-After': '1' })],
    ['an internal error', refusal('internal')],
    ['a cool-down', refusal('resend_too_soon', { 'Retry-After': '1' })],
  ])('after %s', async (_title, failure) => {
    const sending = clientOf(failure);
    await expect(sending.client.sendCode(buyer.phone)).rejects.toThrow();
    const using = clientOf(failure);
    await expect(using.client.verifyCode(buyer.phone, '123456')).rejects.toThrow();
    expect([sending.sent.length, using.sent.length]).toEqual([1, 1]);
  });

  it('except when the plan was full, for then nothing was done', async () => {
    const { client, waits } = clientOf(
      refusal('rate_limit_exceeded', { 'Retry-After': '3' }),
      json(202, { expires_in: 300, resend_after: 60 }),
    );
    await expect(client.sendCode(buyer.phone)).resolves.toEqual({ expires_in: 300, resend_after: 60 });
    expect(waits).toEqual([3000]);
  });
});

describe('reading all users', () => {
  const pageOf = (page: number, ids: string[]) =>
    json(200, { data: ids.map((id) => ({ ...user, id })), page, page_size: 100, total: 3, total_pages: 2 });

  it('goes through every page, in order, and stops at the last', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a', 'b']), pageOf(2, ['c']));
    const seen: string[] = [];
    for await (const { id } of client.users()) seen.push(id);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?page=1&page_size=100',
      '?page=2&page_size=100',
    ]);
  });

  it('asks for no page that nobody reads', async () => {
    const { client, sent } = clientOf(pageOf(1, ['a', 'b']));
    const users = client.users();
    await users.next();
    await users.return();
    expect(sent).toHaveLength(1);
  });

  it('of a seller who has none gives none', async () => {
    const { client } = clientOf(json(200, { data: [], page: 1, page_size: 100, total: 0, total_pages: 0 }));
    await expect(client.users().next()).resolves.toEqual({ done: true, value: undefined });
  });
});
