import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { validPath } from '#test/security/valid-request.ts';
import { type BuyerLinkingClient, buyerLinking } from '../../client/src/index.ts';
import { checkedOptions } from '../../client/src/options.ts';
import { retryingFetch } from '../../client/src/retry.ts';
import {
  apiKey,
  baseUrl,
  broken,
  buyer,
  clientOf,
  clientWith,
  json,
  problemOf,
  user,
} from './fake-service.ts';

describe('linking, reading and removing', () => {
  it.each<[string, () => Response]>([
    ['a network failure', broken],
    ['a gateway timeout', json(504, {})],
    ['an unavailable service', problemOf('service_unavailable', { 'Retry-After': '1' })],
    ['an internal error', problemOf('internal')],
    ['a bad gateway', json(502, {})],
  ])('are retried with the same body after %s', async (_title, failure) => {
    const { client, sent } = clientOf(failure, json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toMatchObject({ user });
    await expect(sent[1]?.json()).resolves.toEqual(buyer);
  });

  it.each([
    [0, 1000],
    [0.5, 1250],
    [0.999, 1499.5],
  ])(
    'are retried after the seconds of Retry-After and up to half a second more: %d of it',
    async (random, wait) => {
      const failure = problemOf('service_unavailable', { 'Retry-After': '1' });
      const { client, waits } = clientWith({ random: () => random }, failure, json(201, user));
      await client.linkBuyer(buyer);
      expect(waits).toEqual([wait]);
    },
  );

  it.each<[string, () => Response]>([
    ['there is no Retry-After', broken],
    ['Retry-After is a date', json(503, {}, { 'Retry-After': 'Sat, 21 Nov 2026 10:30:00 GMT' })],
  ])('are retried with exponential backoff if %s', async (_title, failure) => {
    const { client, waits } = clientOf(failure, failure, failure, json(201, user));
    await client.linkBuyer(buyer);
    expect(waits).toEqual([125, 250, 500]);
  });

  it('wait at most 8 seconds without Retry-After, however many retries there were', async () => {
    const failures = Array.from({ length: 7 }, () => broken);
    const options = { maxRetries: 7, maxWaitSeconds: 60 };
    const { client, waits } = clientWith(options, ...failures, json(201, user));
    await client.linkBuyer(buyer);
    expect(waits).toEqual([125, 250, 500, 1000, 2000, 4000, 4000]);
  });

  it('are sent again only when the wait has ended', async () => {
    const { promise: waited, resolve: endWait } = Promise.withResolvers<void>();
    const { promise: waiting, resolve: beginWait } = Promise.withResolvers<void>();
    const sleep = () => {
      beginWait();
      return waited;
    };
    const { client, sent } = clientWith({ sleep }, broken, json(201, user));
    const linked = client.linkBuyer(buyer);
    await waiting;
    await nextTurn();
    expect(sent).toHaveLength(1);
    endWait();
    await linked;
    expect(sent).toHaveLength(2);
  });

  it('are retried at most three times', async () => {
    const { client, sent } = clientOf(broken, broken, broken, broken);
    await expect(client.listUsers()).rejects.toThrow('fetch failed');
    expect(sent).toHaveLength(4);
  });

  it.each<[string, () => Response]>([
    ['a 4xx other than 429', problemOf('validation_failed')],
    ['a 5xx that no repetition helps', json(501, {})],
  ])('are not retried after %s', async (_title, failure) => {
    const { client, sent } = clientOf(failure);
    await expect(client.listUsers()).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });

  const unavailable = (seconds: number) =>
    problemOf('service_unavailable', { 'Retry-After': String(seconds) });

  it.each([
    ['at most 3 seconds in all', {}, [1, 1, 1], [1250, 1250]],
    ['at most as long as maxWaitSeconds in all', { maxWaitSeconds: 5 }, [2, 2, 1], [2250, 2250]],
    ['not for a longer Retry-After', {}, [3], []],
  ])('wait %s, then the problem is thrown', async (_title, options, seconds, expected) => {
    const { client, sent, waits } = clientWith(options, ...seconds.map(unavailable));
    await expect(client.linkBuyer(buyer)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(waits).toEqual(expected);
    expect(sent).toHaveLength(expected.length + 1);
  });

  it('have the whole of maxWaitSeconds for each request', async () => {
    const page = (next_after: string | null) => json(200, { data: [], next_after });
    const [one, two] = [page('usr_0000000000000000000001'), page(null)];
    const { client, waits } = clientWith({ maxWaitSeconds: 3 }, unavailable(2), one, unavailable(2), two);
    await client.users().next();
    expect(waits).toEqual([2250, 2250]);
  });
});

describe('what can take long', () => {
  const aborted = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  const connecting = Object.assign(new Error('Connect Timeout Error'), { name: 'ConnectTimeoutError' });
  const system = Object.assign(new Error('read'), { code: 'ETIMEDOUT' });
  const failing = (cause: unknown) => () => {
    throw new TypeError('fetch failed', { cause });
  };
  const slow: readonly [string, () => Response][] = [
    ['a rate limit', problemOf('rate_limit_exceeded', { 'Retry-After': '1' })],
    ['too many attempts', problemOf('too_many_attempts', { 'Retry-After': '1' })],
    ['a 429 of a proxy', json(429, {}, { 'Retry-After': '1' })],
    ['a timeout of the client', failing(aborted)],
    ['a timeout of a connection', failing(connecting)],
    ['a timeout of the system', failing(system)],
  ];

  it.each(slow)('is thrown at once, after one request: %s', async (_title, failure) => {
    const { client, sent } = clientOf(failure);
    await expect(client.linkBuyer(buyer)).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });

  it.each(slow)('is retried if maxWaitSeconds is set: %s', async (_title, failure) => {
    const { client } = clientWith({ maxWaitSeconds: 3 }, failure, json(201, user));
    await expect(client.linkBuyer(buyer)).resolves.toMatchObject({ user });
  });

  it('is waited for while all users are read, for a clock minute, or for as long as maxWaitSeconds says', async () => {
    const limited = problemOf('rate_limit_exceeded', { 'Retry-After': '60' });
    const page = json(200, { data: [user], next_after: null });
    const { client, waits } = clientOf(limited, page);
    await expect(client.users().next()).resolves.toMatchObject({ value: user });
    expect(waits).toEqual([60_250]);
    const short = clientWith({ maxWaitSeconds: 60 }, limited);
    await expect(short.client.users().next()).rejects.toMatchObject({ retryAfterSeconds: 60 });
  });
});

describe('the timeout of an attempt', () => {
  afterEach(() => mock.restoreAll());

  /** A connection that ends only when the attempt is aborted. */
  const hanging = (request: Request): Promise<Response> =>
    new Promise((_resolve, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason));
    });

  it('ends an attempt without a response, and the next one has a timeout of its own', async () => {
    const fetch = mock.fn(hanging);
    const client = buyerLinking({
      baseUrl,
      apiKey,
      maxRetries: 1,
      maxWaitSeconds: 3,
      timeoutMs: 1,
      onWait: () => {},
      sleep: async () => {},
      fetch,
    });
    await expect(client.listUsers()).rejects.toThrow(`GET ${baseUrl}/v1/users: no response: `);
    expect(fetch.mock.callCount()).toBe(2);
  });

  it('is all that a call of a server takes that accepts it and says nothing', async () => {
    const received: string[] = [];
    const timeout = new AbortController();
    mock.method(AbortSignal, 'timeout', () => timeout.signal);
    const silent = await listenOnLoopback(0, async ({ url }) => {
      received.push(String(url));
      timeout.abort(new DOMException('the time is over', 'TimeoutError'));
    });
    const client = buyerLinking({ baseUrl: `http://localhost:${silent.port}`, apiKey });
    await expect(client.listUsers()).rejects.toThrow('no response: the time is over');
    await silent.close();
    expect(received).toEqual(['/v1/users']);
  });

  it('is 30 seconds by default', async () => {
    const timeout = mock.method(AbortSignal, 'timeout');
    await clientOf(json(200, user)).client.getUser(user.id);
    expect(timeout.mock.calls.map(({ arguments: [ms] }) => ms)).toEqual([30_000]);
  });
});

describe('a link or a check without a verdict', () => {
  const undecided = problemOf('verification_unavailable', { 'Retry-After': '1' });
  const { display_name, ...person } = buyer;
  const checks = [
    ['link', (client: BuyerLinkingClient) => client.linkBuyer(buyer)],
    ['check', (client: BuyerLinkingClient) => client.checkUser(user.id, person)],
  ] as const;

  it.each(checks)('is not repeated, because each %s can be paid', async (_name, check) => {
    const { client, sent } = clientOf(undecided, json(200, user));
    await expect(check(client)).rejects.toMatchObject({
      code: 'verification_unavailable',
      retryAfterSeconds: 1,
    });
    expect(sent).toHaveLength(1);
  });
});

describe('a request that is not safe to repeat', () => {
  it.each<[string, () => Response]>([
    ['a gateway timeout', json(504, {})],
    ['an unavailable service', problemOf('service_unavailable', { 'Retry-After': '1' })],
    ['an unavailable SMS provider', problemOf('sms_unavailable', { 'Retry-After': '1' })],
    ['an internal error', problemOf('internal')],
    ['a cool-down', problemOf('resend_too_soon', { 'Retry-After': '1' })],
    ['a lock', problemOf('too_many_attempts', { 'Retry-After': '1' })],
    ['a lost connection', broken],
  ])('is not retried after %s, whatever maxWaitSeconds is', async (_title, failure) => {
    const { client, sent } = clientWith({ maxWaitSeconds: 90 }, failure);
    await expect(client.sendCode(buyer)).rejects.toThrow();
    expect(sent).toHaveLength(1);
  });
});

describe('a request of each operation', () => {
  itForAll(allRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'is retried after rate_limit_exceeded if maxWaitSeconds is set, and after a network failure only if its row says that it is repeatable',
    async (_operation, route) => {
      const failures = [problemOf('rate_limit_exceeded', { 'Retry-After': '3' }), broken, broken];
      const fetch = mock.fn(async () => (failures.shift() ?? broken)());
      const send = retryingFetch({
        maxRetries: 2,
        maxWaitSeconds: 60,
        timeoutMs: 30_000,
        onWait: () => {},
        sleep: async () => {},
        random: () => 0.5,
        fetch,
      });
      const request = new Request(`${baseUrl}${validPath(route)}`, { method: route.method });
      await expect(send(request)).rejects.toThrow('fetch failed');
      expect(fetch.mock.callCount()).toBe(route.repeatable ? 3 : 2);
    },
  );
});

describe('a wait', () => {
  it('of the default sleep ends with the reason of an abort, and sends nothing more', async () => {
    const controller = new AbortController();
    const reason = new Error('aborted by the caller');
    const fetch = mock.fn(async () => problemOf('rate_limit_exceeded', { 'Retry-After': '60' })());
    const onWait = () => setImmediate(() => controller.abort(reason));
    const client = buyerLinking({ baseUrl, apiKey, maxWaitSeconds: 90, fetch, onWait });
    await expect(client.listUsers({}, { signal: controller.signal })).rejects.toBe(reason);
    expect(fetch.mock.callCount()).toBe(1);
  });

  it('of the default sleep lasts as long as it should, and leaves no listener behind', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { signal } = new AbortController();
    const remove = mock.method(signal, 'removeEventListener');
    const { sleep } = checkedOptions({ baseUrl, apiKey }).retries;
    let hasEnded = false;
    const ended = sleep(1000, signal).then(() => {
      hasEnded = true;
    });
    mock.timers.tick(999);
    await nextTurn();
    expect(hasEnded).toBe(false);
    mock.timers.tick(1);
    await ended;
    expect(remove.mock.callCount()).toBe(1);
    mock.timers.reset();
  });

  it('is written with console.warn by default', () => {
    const warn = mock.method(console, 'warn', () => {});
    const { onWait } = checkedOptions({ baseUrl, apiKey }).retries;
    onWait({ waitMs: 250, code: undefined, retry: 1 });
    const written = warn.mock.calls.map(({ arguments: [text] }) => text);
    warn.mock.restore();
    expect(written).toEqual(['buyer-linking waits 0.3 s before retry 1: no response']);
  });

  it('can be observed with its time, its reason and the number of the retry', async () => {
    const { client, observed, waits } = clientWith(
      { maxWaitSeconds: 90 },
      problemOf('rate_limit_exceeded', { 'Retry-After': '7' }),
      broken,
      json(502, {}),
      json(201, user),
    );
    await client.linkBuyer(buyer);
    expect(observed).toEqual([
      { waitMs: 7250, code: 'rate_limit_exceeded', retry: 1 },
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
