import { handle as createHandle } from '#functions/create-user.ts';
import { handle } from '#functions/list-users.ts';
import { PROBLEMS, problem, problemType, serviceUnavailable } from '#shared/problems.ts';
import { type RateLimiter, rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { currentDeadline } from '#shared/request-context.ts';
import type { Route } from '#shared/route.ts';
import { routes } from '#shared/routes.ts';
import { WriteConflict } from '#shared/table/retry-conflicts.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { callerContext, functionUnderTest } from '#test/functions/harness.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { hangingLimits } from '#test/table/hanging-limits.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const USER_ID = userIdAt(1, '0'.repeat(15));

const users = { listPage: async () => ({ users: [], total: 0, totalPages: 0 }) };

const list = (own: Record<string, unknown> = {}) =>
  functionUnderTest<(typeof routes)['list-users'], never>(routes['list-users'], handle as never, table, {
    users,
    ...own,
  } as never);

/** POST /v1/users without dependencies: for what happens before the handler. */
const create = (own: object = {}) =>
  functionUnderTest<(typeof routes)['create-user'], never>(
    routes['create-user'],
    createHandle as never,
    table,
    own as never,
  );

describe('every response', () => {
  it('carries the request id that no caller can set, and no-store under /v1', async () => {
    const { headers } = await list().call();
    expect(headers).toMatchObject({
      'X-Request-Id': 'req-1',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json',
    });
  });

  it('carries no-store on a row under /v1, however its path was sent, and whatever the outcome', async () => {
    const { call } = list();
    for (const query of [undefined, { page: 'x' }]) {
      const { headers } = await call({ sentPath: '/%76%31/users', ...(query && { query }) });
      expect(headers['Cache-Control']).toBe('no-store');
    }
  });

  it('carries Strict-Transport-Security in Lambda, whatever the outcome, and not on one machine', async () => {
    const { call } = list();
    const sent = async () => [await call(), await call({ query: { page: 'x' } })];
    for (const { headers } of await sent()) expect(headers).not.toHaveProperty('Strict-Transport-Security');
    process.env.AWS_LAMBDA_FUNCTION_NAME = 'list-users';
    try {
      const replies = (await sent()).map(({ status, headers }) => [
        status,
        headers['Strict-Transport-Security'],
      ]);
      expect(replies).toEqual([
        [200, 'max-age=31536000'],
        [422, 'max-age=31536000'],
      ]);
    } finally {
      delete process.env.AWS_LAMBDA_FUNCTION_NAME;
    }
  });

  it('carries the state of the plan limit', async () => {
    const authorizer = { ...callerContext, keyId: 'key_state', plan: 'free' };
    const { call, clock } = list();
    clock.set('2026-11-21T08:00:37.200Z');
    const { headers } = await call({ authorizer });
    expect(headers['RateLimit-Policy']).toBe('"free";q=100;w=60');
    expect(headers.RateLimit).toBe('"free";r=99;t=23');
    expect((await call({ authorizer, query: { page: 'x' } })).headers.RateLimit).toBe('"free";r=98;t=23');
  });

  it('says when the key ends from 14 days before its end on, and not earlier', async () => {
    const { call, clock } = list();
    const expiresAt = clock() / 1000 + 14 * 86_400 + 1;
    const authorizer = { ...callerContext, expiresAt: String(expiresAt) };
    expect((await call({ authorizer })).headers).not.toHaveProperty('X-Api-Key-Expires-At');
    clock.advance(1);
    const replies = [await call({ authorizer }), await call({ authorizer, query: { page: 'x' } })];
    expect(replies.map(({ status, headers }) => [status, headers['X-Api-Key-Expires-At']])).toEqual([
      [200, '2026-12-05T08:00:01Z'],
      [422, '2026-12-05T08:00:01Z'],
    ]);
    expect((await call()).headers).not.toHaveProperty('X-Api-Key-Expires-At');
  });

  it('logs one completion line, whose outcome the metrics and alarms count', async () => {
    const { call, lines } = list();
    await call();
    await call({ query: { page: 'x' } });
    const events = lines.map((line) => JSON.parse(line));
    expect(events).toMatchObject([
      { event: 'request_completed', status: 200, outcome: 'ok' },
      { event: 'request_completed', status: 422, outcome: 'validation_failed', code: 'validation_failed' },
    ]);
    expect(events[0]).not.toHaveProperty('code');
  });
});

describe('a problem', () => {
  it('is an application/problem+json body from the table of codes', async () => {
    const { status, headers, json } = await list().call({ query: { page: '0' } });
    expect(status).toBe(422);
    expect(headers['Content-Type']).toBe('application/problem+json');
    expect(json).toEqual({
      type: problemType('validation_failed'),
      title: 'Validation failed',
      status: 422,
      code: 'validation_failed',
      detail: PROBLEMS.validation_failed.detail,
      request_id: 'req-1',
      errors: [
        { parameter: 'page', code: 'invalid', detail: 'Must be an integer from 1 to 9007199254740991.' },
      ],
    });
  });
});

describe('the plan limit', () => {
  it('precedes the input, and what a GET that is counted beside its handler met', async () => {
    const usedUp = { allowed: false, remaining: 0, resetSeconds: 30, endsAt: 0 };
    const rateLimiter: Pick<RateLimiter, 'incrementAndRead'> = { incrementAndRead: async () => [usedUp] };
    const failing = { listPage: () => Promise.reject(new Error('no page')) };
    const replies = [
      await create({ rateLimiter }).call({ rawBody: '{' }),
      await list({ rateLimiter }).call({ query: { page: 'x' } }),
      await list({ rateLimiter, users: failing }).call(),
    ];
    for (const { json, headers } of replies) {
      expect(json).toMatchObject({ code: 'rate_limit_exceeded', reason: 'plan', retry_after: 30 });
      expect(headers).toMatchObject({
        'Retry-After': '30',
        RateLimit: '"professional";r=0;t=30',
        'RateLimit-Policy': '"professional";q=1000;w=60',
      });
    }
  });

  it('allows a request and logs a metric when its store cannot be reached', async () => {
    const rateLimiter: Pick<RateLimiter, 'incrementAndRead'> = {
      incrementAndRead: () => Promise.reject(new Error('no table')),
    };
    const { call, lines } = list({ rateLimiter });
    const { status, headers } = await call();
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('RateLimit');
    expect(lines.map((line) => JSON.parse(line).event)).toContain('rate_limiter_unreachable');
  });
});

describe('a store of the limiter that hangs', () => {
  it('delays a request by the timeout of the limiter; then the request passes', async () => {
    const { call, lines } = list({ rateLimiter: rateLimiter(hangingLimits(table), 20) });
    expect((await call()).status).toBe(200);
    expect(lines.map((line) => JSON.parse(line).event)).toEqual([
      'rate_limiter_unreachable',
      'request_completed',
    ]);
  });
});

describe('the caller', () => {
  it('is rejected in the second in which its key expires, although the authorizer decided earlier', async () => {
    const { call, clock } = list();
    const authorizer = { ...callerContext, expiresAt: String(clock() / 1000 + 10) };
    expect((await call({ authorizer })).status).toBe(200);
    clock.advance(10);
    const { status, json, headers } = await call({ authorizer });
    expect([status, json.code]).toEqual([401, 'invalid_api_key']);
    expect(headers).not.toHaveProperty('RateLimit');
  });

  it('is never assumed: a request without an authorizer context gets internal', async () => {
    const { status, json } = await list().call({ authorizer: null });
    expect([status, json.code]).toEqual([500, 'internal']);
  });
});

describe('the body', () => {
  const JSON_TYPES = [
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/json ; charset=utf-8',
    'application/merge-patch+json',
  ];

  it.each(JSON_TYPES)('is JSON when the content type is %s', async (contentType) => {
    const { json } = await create().call({ body: {}, headers: { 'content-type': contentType } });
    expect(json.code).toBe('validation_failed');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '', 'text/json'])(
    'gets unsupported_media_type when the content type is "%s"',
    async (contentType) => {
      const { status, json } = await create().call({ body: {}, headers: { 'content-type': contentType } });
      expect([status, json.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it.each([
    ['missing', null],
    ['empty', ''],
    ['cut short', '{'],
    ['null', 'null'],
    ['a number', '42'],
    ['an array', '[]'],
    ['nested to the size limit', '['.repeat(16_384)],
    [
      'an object whose unknown field is nested to the size limit',
      `{"zip":${'['.repeat(8000)}${']'.repeat(8000)}}`,
    ],
    ['not UTF-8', Buffer.from([...Buffer.from('{"display_name":"'), 0xff, 0x22, 0x7d]).toString()],
  ])('gets malformed_json when it is %s', async (_what, rawBody) => {
    const { status, json } = await create().call({ rawBody });
    expect([status, json.code]).toEqual([400, 'malformed_json']);
  });

  it('has its faults reported together with those of the query', async () => {
    const { status, json } = await create().call({ body: { phone: '1', zip: '2' }, query: { dry_run: '1' } });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    const named = json.errors.map(
      (error: { pointer?: string; parameter?: string }) => error.pointer ?? error.parameter,
    );
    expect(named.sort()).toEqual([
      '#/birth_date',
      '#/display_name',
      '#/national_id',
      '#/phone',
      '#/zip',
      'dry_run',
    ]);
  });

  it('may begin with a byte order mark', async () => {
    const { json } = await create().call({ rawBody: '\ufeff{}' });
    expect(json.code).toBe('validation_failed');
    expect((await create().call({ rawBody: '\ufeff\ufeff{}' })).json.code).toBe('malformed_json');
  });

  it('says of each wrong field why: required, unknown, type or invalid', async () => {
    const body = { national_id: null, phone: 912, display_name: '', external_id: null, zip: 1 };
    const { json } = await create().call({ body, query: { dry_run: '1' } });
    expect(json.errors.map(({ detail: _detail, ...error }: { detail: string }) => error)).toEqual([
      { pointer: '#/national_id', code: 'required' },
      { pointer: '#/birth_date', code: 'required' },
      { pointer: '#/phone', code: 'type' },
      { pointer: '#/display_name', code: 'invalid' },
      { pointer: '#/external_id', code: 'type' },
      { pointer: '#/zip', code: 'unknown' },
      { parameter: 'dry_run', code: 'unknown' },
    ]);
  });

  it('names the known fields and parameters beside an unknown one', async () => {
    const { json } = await create().call({ body: { zip: 1 }, query: { dry_run: '1' } });
    expect(json.errors.slice(-2)).toEqual([
      {
        pointer: '#/zip',
        code: 'unknown',
        detail:
          'Is not a known field: this operation has national_id, birth_date, phone, display_name, external_id.',
      },
      {
        parameter: 'dry_run',
        code: 'unknown',
        detail: 'Is not a known parameter: this operation has none.',
      },
    ]);
  });

  it('says of a parameter that is given twice that it is unknown, or else invalid', async () => {
    const { json } = await list().call({ query: { pages: ['1', '2'], page: ['1', '1'] } });
    expect(json.errors.map(({ detail: _detail, ...error }: { detail: string }) => error)).toEqual([
      { parameter: 'pages', code: 'unknown' },
      { parameter: 'page', code: 'invalid' },
    ]);
  });

  it('gets validation_failed for an unknown field whose name is half a character', async () => {
    const { json } = await create().call({ rawBody: '{"\\ud800":1}' });
    expect(json.errors.at(-1)).toMatchObject({ pointer: '#/%EF%BF%BD', code: 'unknown' });
  });

  const hundreds = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [`${index}`.repeat(15), 'x']),
  );
  const twice = Object.fromEntries(Object.keys(hundreds).map((name) => [name, ['1', '2']]));

  it.each([
    ['unknown fields', { body: hundreds }],
    ['unknown parameters', { body: {}, query: hundreds }],
    ['parameters that are given twice', { body: {}, query: twice }],
    ['all of these', { body: hundreds, query: twice }],
  ])('with hundreds of %s gets 100 errors and no more', async (_which, request) => {
    const { json } = await create().call(request);
    expect(json.errors).toHaveLength(100);
    expect(JSON.stringify(json).length).toBeLessThan(30_000);
  });

  it.each([
    ['letters', 'n'],
    ['characters of two units, none of which is halved', '😀'],
  ])('names an unknown field by its first 100 %s', async (_which, character) => {
    const { json } = await create().call({ body: { [`x${character.repeat(200)}`]: 1 } });
    const { pointer } = json.errors.at(-1);
    expect(decodeURIComponent(pointer)).toBe(`#/x${character.repeat(99)}`);
  });

  it.each([
    ['of exactly 16 KB is parsed', 16_384, 'validation_failed'],
    ['over 16 KB gets body_too_large before it is parsed', 16_385, 'body_too_large'],
  ])('%s', async (_case, bytes, code) => {
    const rawBody = `{"phone":"${'x'.repeat(bytes - 12)}"}`;
    expect(Buffer.byteLength(rawBody)).toBe(bytes);
    expect((await create().call({ rawBody })).json.code).toBe(code);
  });
});

describe('a failure of the storage', () => {
  const failing = (error: unknown) => list({ users: { listPage: () => Promise.reject(error) } });
  const named = (name: string, fields: object = {}) => Object.assign(new Error(name), { name, ...fields });

  it.each([
    // As DynamoDB, KMS and Secrets Manager document them.
    ...[
      'LimitExceededException',
      'ProvisionedThroughputExceeded',
      'ProvisionedThroughputExceededException',
      'RequestLimitExceeded',
      'ThrottlingError',
      'ThrottlingException',
      'TransactionConflictException',
      'TransactionInProgressException',
      'UnprocessedKeysError',
    ].map((name): [string, Error] => [name, named(name)]),
    ['a server error', named('InternalServerError', { $fault: 'server' })],
    // As Node names what happens to a connection and to DNS.
    ...[
      'ECONNREFUSED',
      'ECONNRESET',
      'ECONNABORTED',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'ENOTFOUND',
      'EAI_AGAIN',
    ].map((code): [string, Error] => [code, named('Error', { code })]),
    ['a timeout', named('TimeoutError')],
    ['the end of the deadline', named('AbortError')],
    ...['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict'].map(
      (Code): [string, Error] => [
        `a transaction canceled by ${Code}`,
        named('TransactionCanceledException', { CancellationReasons: [{ Code: 'None' }, { Code }] }),
      ],
    ),
  ])('gets service_unavailable with Retry-After: %s', async (_case, error) => {
    const { status, json, headers } = await failing(error).call();
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
  });

  it('gets service_unavailable, with a completion line, before Lambda ends a function that hangs', async () => {
    const { call, lines } = list({ users: { listPage: () => new Promise(() => {}) } });
    // The response is made 250 ms before the end.
    const { status, json, headers } = await call({ timeLeftMs: 260 });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
    const completed = lines
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'request_completed');
    expect(completed).toMatchObject([{ status: 503, cause: 'TimeoutError' }]);
  });

  it('is named as the cause in the completion line', async () => {
    const { call, lines } = failing(named('ThrottlingException'));
    await call();
    expect(JSON.parse(String(lines.at(-1)))).toMatchObject({
      event: 'request_completed',
      code: 'service_unavailable',
      cause: 'ThrottlingException',
    });
  });

  it.each([
    ['provider', problem('sms_unavailable', { cause: named('ProviderUnavailable') })],
    ['limit', problem('sms_unavailable')],
    ['conflict', serviceUnavailable(new WriteConflict('others came first'))],
    ['dependency', named('ThrottlingException')],
    ['dependency', serviceUnavailable(new Error('the request was not counted'))],
    ['defect', new TypeError('x is undefined')],
  ])('counts a 5xx response once, by what it comes from: %s', async (kind, error) => {
    const { call, lines } = failing(error);
    await call();
    const counted = lines.map((line) => JSON.parse(line)).filter(({ ServerErrors }) => ServerErrors === 1);
    expect(counted).toMatchObject([{ event: 'request_completed', cause_kind: kind }]);
  });

  it('counts no response below 500 as a server error', async () => {
    const { call, lines } = failing(problem('user_not_found', { cause: new Error('gone') }));
    await call();
    const line = JSON.parse(String(lines.at(-1)));
    expect(line.status).toBe(404);
    expect(line).not.toHaveProperty('ServerErrors');
    expect(line).not.toHaveProperty('cause_kind');
  });

  it.each([
    ['a defect', new TypeError('x is undefined')],
    ['a validation error of the database', named('ValidationException', { $fault: 'client' })],
    ['a thrown string', 'text'],
  ])('is not assumed for %s, which gets internal', async (_case, error) => {
    const { status, json } = await failing(error).call();
    expect([status, json.code]).toEqual([500, 'internal']);
  });

  it.each([
    ['list-users', 3_000, {}],
    ['update-user', 3_000, { path: { id: USER_ID }, body: { display_name: 'Sara' } }],
    ['delete-user', 3_000, { path: { id: USER_ID } }],
  ] as const)(
    'ends a request to %s, which calls no provider, after %i ms',
    async (name, expectedMs, sent) => {
      let leftMs = 0;
      const route = routes[name];
      const handler = functionUnderTest<Route, never>(
        route,
        (async () => {
          leftMs = currentDeadline().leftMs();
          throw new Error('enough');
        }) as never,
        table,
        {} as never,
      );
      await handler.call({ timeLeftMs: 15_000, ...sent });
      expect(leftMs).toBeGreaterThan(expectedMs - 100);
      expect(leftMs).toBeLessThanOrEqual(expectedMs);
    },
  );
});

describe('the completion line', () => {
  it('lists the calls to the database with their milliseconds', async () => {
    const { call, lines } = list({ users: userStore(table) });
    await call();
    expect(JSON.parse(String(lines.at(-1))).calls).toMatch(/^(?:dynamodb:\w+=\d+ ?)+$/);
  });
});
