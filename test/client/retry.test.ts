import { mock } from 'node:test';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { validPath } from '#test/security/valid-request.ts';
import { type BuyerLinkingClient, buyerLinking } from '../../client/src/index.ts';
import { retryingFetch } from '../../client/src/retry.ts';
import { apiKey, baseUrl, broken, buyer, clientOf, json, problemOf, user } from './fake-service.ts';

describe('linking, reading and removing', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a gateway timeout', json(504, {})],
    ['an unavailable service', problemOf('service_unavailable', { 'Retry-After': '1' })],
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
});

describe('a link or a check without a verdict', () => {
  const undecided = problemOf('verification_unavailable', { 'Retry-After': '1' });
  const { display_name, ...person } = buyer;
  const checks = [
    ['link', (client: BuyerLinkingClient) => client.linkBuyer(buyer)],
    ['check', (client: BuyerLinkingClient) => client.checkUser(user.id, person)],
  ] as const;

  it.each(checks)('is not repeated by default, because each %s can be paid', async (_name, check) => {
    const { client, sent } = clientOf(undecided, json(200, user));
    await expect(check(client)).rejects.toMatchObject({
      code: 'verification_unavailable',
      retryAfterSeconds: 1,
    });
    expect(sent).toHaveLength(1);
  });

  it.each(checks)('is repeated with the option retryUndecided: %s', async (_name, check) => {
    const responses = [undecided, undecided, json(200, user)];
    const waits: number[] = [];
    const client = buyerLinking({
      baseUrl,
      apiKey,
      retryUndecided: true,
      sleep: async (ms) => void waits.push(ms),
      fetch: async () => (responses.shift() as () => Response)(),
    });
    await check(client);
    expect([responses, waits]).toEqual([[], [1000, 1000]]);
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
    await expect(sending.client.sendCode(buyer)).rejects.toThrow();
    const using = clientOf(failure);
    await expect(using.client.verifyCode({ phone: buyer.phone, code: '123456' })).rejects.toThrow();
    expect([sending.sent.length, using.sent.length]).toEqual([1, 1]);
  });

  it('are retried after rate_limit_exceeded', async () => {
    const { client, waits } = clientOf(
      problemOf('rate_limit_exceeded', { 'Retry-After': '3' }),
      json(202, { expires_in: 300, resend_after: 60 }),
    );
    await expect(client.sendCode(buyer)).resolves.toEqual({ expires_in: 300, resend_after: 60 });
    expect(waits).toEqual([3000]);
  });
});

describe('a request of each published operation', () => {
  const published = allRoutes.filter(({ tag }) => tag !== undefined);

  itForAll(published.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'is retried after a network failure only if its row says that it is repeatable',
    async (_operation, route) => {
      const fetch = mock.fn(async () => broken());
      const send = retryingFetch({
        maxRetries: 1,
        maxWaitSeconds: 60,
        retryUndecided: false,
        timeoutMs: 30_000,
        onWait: () => {},
        sleep: async () => {},
        random: () => 0.5,
        fetch,
      });
      const request = new Request(`${baseUrl}${validPath(route)}`, { method: route.method });
      await expect(send(request)).rejects.toThrow('fetch failed');
      expect(fetch.mock.callCount()).toBe(route.repeatable ? 2 : 1);
    },
  );
});

describe('a wait', () => {
  it('can be observed with its time, its reason and the number of the retry', async () => {
    const { client, observed, waits } = clientOf(
      problemOf('rate_limit_exceeded', { 'Retry-After': '7' }),
      broken,
      json(502, {}),
      json(201, user),
    );
    await client.linkBuyer(buyer);
    expect(observed).toEqual([
      { waitMs: 7000, code: 'rate_limit_exceeded', retry: 1 },
      { waitMs: 250, code: undefined, retry: 2 },
      { waitMs: 500, code: undefined, retry: 3 },
    ]);
    expect(waits).toEqual(observed.map(({ waitMs }) => waitMs));
  });

  it('is not reported if there is none', async () => {
    const { client, observed } = clientOf(problemOf('user_conflict'));
    await expect(client.linkBuyer(buyer)).rejects.toMatchObject({ code: 'user_conflict' });
    expect(observed).toEqual([]);
  });
});
