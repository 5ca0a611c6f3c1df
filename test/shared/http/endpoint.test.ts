import { handle as createHandle } from '#functions/create-user.ts';
import { handle } from '#functions/list-users.ts';
import { PROBLEMS, problemType } from '#shared/problems.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { routes } from '#shared/routes.ts';
import { callerContext, functionUnderTest } from '#test/functions/harness.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;

beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const users = { listPage: async () => ({ users: [], total: 0 }) };

const list = (own: Record<string, unknown> = {}) =>
  functionUnderTest<(typeof routes)['list-users'], never>(routes['list-users'], handle as never, table, {
    users,
    ...own,
  } as never);

/** POST /v1/users with nothing behind it: for what is judged before the handler. */
const create = () =>
  functionUnderTest<(typeof routes)['create-user'], never>(
    routes['create-user'],
    createHandle as never,
    table,
    {} as never,
  );

describe('every answer', () => {
  it('carries the request id that no caller can choose, and may not be cached under /v1', async () => {
    const { headers } = await list().call();
    expect(headers).toMatchObject({
      'X-Request-Id': 'req-1',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json',
    });
  });

  it('says where the caller stands in its plan', async () => {
    const authorizer = { ...callerContext, keyId: 'key_standing', plan: 'free' };
    const { call, clock } = list();
    clock.set('2026-11-21T08:00:37.200Z');
    const { headers } = await call({ authorizer });
    expect(headers['RateLimit-Policy']).toBe('"free";q=100;w=60');
    expect(headers.RateLimit).toBe('"free";r=99;t=23');
    expect((await call({ authorizer, query: { page: 'x' } })).headers.RateLimit).toBe('"free";r=98;t=23');
  });

  it('leaves one line in the log', async () => {
    const { call, lines } = list();
    await call();
    await call({ query: { page: 'x' } });
    const events = lines.map((line) => JSON.parse(line));
    expect(events.map(({ event, status, code }) => [event, status, code])).toEqual([
      ['request_completed', 200, undefined],
      ['request_completed', 422, 'validation_failed'],
    ]);
  });
});

describe('a refusal', () => {
  it('is problem+json of the closed table', async () => {
    const { status, headers, json } = await list().call({ query: { page: '0' } });
    expect(status).toBe(422);
    expect(headers['Content-Type']).toBe('application/problem+json');
    expect(json).toEqual({
      type: problemType('validation_failed'),
      title: PROBLEMS.validation_failed.title,
      status: 422,
      code: 'validation_failed',
      detail: PROBLEMS.validation_failed.detail,
      request_id: 'req-1',
      errors: [{ parameter: 'page', detail: expect.any(String) }],
    });
  });
});

describe('the plan limit', () => {
  it('lets exactly 100 requests of a free key through in a minute, then says rate_limit_exceeded', async () => {
    const authorizer = { ...callerContext, keyId: 'key_exact', plan: 'free' };
    const { call, clock } = list();
    clock.set('2026-11-21T08:00:30Z');
    const replies = await Promise.all(Array.from({ length: 130 }, () => call({ authorizer })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(100);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    expect(refused[0]?.headers).toMatchObject({
      'Retry-After': '30',
      RateLimit: '"free";r=0;t=30',
      'RateLimit-Policy': '"free";q=100;w=60',
    });
    clock.set('2026-11-21T08:01:00Z');
    expect((await call({ authorizer })).status).toBe(200);
  });

  it('is judged before the input', async () => {
    const authorizer = { ...callerContext, keyId: 'key_order', plan: 'free' };
    const { call } = create();
    await Promise.all(Array.from({ length: 100 }, () => call({ authorizer, rawBody: '{' })));
    expect((await call({ authorizer, rawBody: '{' })).json.code).toBe('rate_limit_exceeded');
  });

  it('lets a request pass, and says so in a metric, when the rateLimiter cannot be reached', async () => {
    const rateLimiter: Pick<RateLimiter, 'count'> = { count: () => Promise.reject(new Error('no table')) };
    const { call, lines } = list({ rateLimiter });
    const { status, headers } = await call();
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('RateLimit');
    expect(lines.map((line) => JSON.parse(line).event)).toContain('rate_limiter_unreachable');
  });
});

describe('the caller', () => {
  it('is refused the second the key expires, though the authorizer answered earlier', async () => {
    const { call, clock } = list();
    const authorizer = { ...callerContext, expiresAt: String(clock() / 1000 + 10) };
    expect((await call({ authorizer })).status).toBe(200);
    clock.advance(10);
    const { status, json, headers } = await call({ authorizer });
    expect([status, json.code]).toEqual([401, 'invalid_api_key']);
    expect(headers).not.toHaveProperty('RateLimit');
  });

  it('is never assumed: without an authorizer the function answers nothing but internal', async () => {
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
    'is unsupported_media_type when the content type is "%s"',
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
    ['a string', '"text"'],
    ['an array', '[]'],
    ['true', 'true'],
    ['more than one value', '{"a":1}x'],
    ['nested without end', '['.repeat(200_000)],
    ['a control character', '\u0000'],
    ['a bare word', 'constructor'],
    ['not UTF-8', Buffer.from([...Buffer.from('{"display_name":"'), 0xff, 0x22, 0x7d]).toString()],
  ])('is malformed_json when it is %s', async (_what, rawBody) => {
    const { status, json } = await create().call({ rawBody });
    expect([status, json.code]).toEqual([400, 'malformed_json']);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty'])(
    'may not have the field %s',
    async (field) => {
      const rawBody = `{"${field}":{"prototype":{"polluted":true}}}`;
      const { status, json } = await create().call({ rawBody });
      expect([status, json.code]).toEqual([422, 'validation_failed']);
      expect(json.errors.map((error: { pointer: string }) => error.pointer)).toContain(`#/${field}`);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it('has its faults named together with those of the query', async () => {
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

  it('with thousands of unknown fields gets an answer of bounded size', async () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`${index}`.repeat(50), 1]));
    const { json } = await create().call({ body });
    expect(json.errors.length).toBeLessThanOrEqual(101);
    expect(JSON.stringify(json).length).toBeLessThan(30_000);
  });
});
