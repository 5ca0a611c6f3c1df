import { newApiKey } from '#shared/api-keys/format.ts';
import { type Route, requiresKey, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { call, expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import type { Target } from '#test/scenarios/target.ts';
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

/**
 * Attacks on every row of the route table over real HTTP: a new endpoint is attacked before anyone remembers to.
 */

let service: RunningService;
let target: Target;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'] });
  target = localTarget(service.demo);
});
afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
});

const named = (routes: readonly Route[]) => routes.map((route) => [route.name, route] as const);

const keyed = named(allRoutes.filter((route) => requiresKey(route, 'api-key')));
const scoped = named(allRoutes.filter((route) => scopeOf(route) !== undefined));
const withBody = named(allRoutes.filter((route) => route.body !== undefined));
const all = named(allRoutes);

const pathOf = (route: Route): string => route.path.replace(/\{\w+\}/, 'no-such-file');

/** Calls a row with a body that says nothing, where it wants one. */
const attack = (
  route: Route,
  options: { key?: string; text?: string; headers?: Record<string, string>; query?: string } = {},
) =>
  call(target, `${pathOf(route)}${options.query ?? ''}`, {
    method: route.method,
    ...(route.body === undefined ? {} : { text: options.text ?? '{}' }),
    ...(options.key === undefined ? {} : { key: options.key }),
    headers: options.headers ?? {},
  });

const anyKeyFor = (route: Route): string =>
  scopeOf(route) === undefined ? target.keys.app : target.keys.professional;

describe.each(keyed)('%s without a right key', (_name, route) => {
  it('is 401 with one and the same body, whatever is wrong with the key', async () => {
    const { professional } = target.keys;
    const flipped = `${professional.slice(0, 20)}${professional[20] === 'a' ? 'b' : 'a'}${professional.slice(21)}`;
    const wrong: (string | undefined)[] = [
      undefined,
      'x',
      'blk_test_',
      professional.slice(0, -1),
      `${professional}0`,
      flipped,
      professional.toUpperCase(),
      newApiKey('blk_test_'),
      newApiKey('blk_live_'),
      `Bearer ${professional}`,
      `${professional},${professional}`,
      'x'.repeat(5000),
      "' OR 1=1 --",
    ];
    const replies: Reply[] = [];
    for (const key of wrong) replies.push(await attack(route, key === undefined ? {} : { key }));
    for (const reply of replies) expectProblem(reply, 'invalid_api_key');
    expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
    expect(replies.map(({ headers }) => headers.get('ratelimit'))).toEqual(replies.map(() => null));
  });

  it('takes a key from no other place', async () => {
    const key = anyKeyFor(route);
    const headers = { Authorization: `Bearer ${key}`, Cookie: `X-Api-Key=${key}` };
    expectProblem(
      await attack(route, { headers, query: `?x-api-key=${key}&api_key=${key}` }),
      'invalid_api_key',
    );
  });

  it('says nothing of the body before the key is judged', async () => {
    expectProblem(await attack(route, { text: '{' }), 'invalid_api_key');
  });
});

describe.each(scoped)('%s with a key of another scope', (_name, route) => {
  it('is 403, before the body is looked at, and does not count', async () => {
    const lacking = scopeOf(route) === 'users:read' ? target.keys.write_only : target.keys.read_only;
    for (const key of [lacking, target.keys.app]) {
      const reply = await attack(route, { key, text: '{' });
      expectProblem(reply, 'insufficient_scope');
      expect(reply.headers.get('ratelimit')).toBeNull();
    }
  });
});

describe.each(withBody)('%s with a hostile body', (_name, route) => {
  const bodies: readonly (readonly [string, string])[] = [
    [
      'an operator object for each field',
      '{"phone":{"$gt":""},"code":{"$ne":1},"national_id":{"$regex":".*"}}',
    ],
    ['an array for each field', '{"phone":[],"code":[],"national_id":[],"birth_date":[],"display_name":[]}'],
    ['huge strings', `{"phone":"${'0'.repeat(200_000)}","code":"${'1'.repeat(200_000)}"}`],
    ['spaces and hyphens without end', `{"phone":"0${' -'.repeat(100_000)}9"}`],
    ['prototype keys', '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}'],
    ['a seller of its own', '{"seller_id":"sel_someone_else","sellerId":"sel_someone_else"}'],
    ['null bytes', '{"phone":"0912\\u00001234567","display_name":"a\\u0000b"}'],
    ['lone surrogates', '{"display_name":"\\ud800","\\udfff":1}'],
  ];

  it.each(bodies)('refuses %s by name and echoes no value', async (_what, text) => {
    const reply = await attack(route, { key: anyKeyFor(route), text });
    const { errors = [] } = expectProblem(reply, 'validation_failed');
    expect(errors.length).toBeGreaterThan(0);
    expect(reply.text).not.toMatch(/isAdmin|someone_else|\$gt|0{20}|1{20}/);
  });
});

describe.each(all)('%s', (_name, route) => {
  it('answers no other method', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectProblem(await call(target, pathOf(route), { method }), 'not_found');
    }
  });

  it('answers under no other spelling of its path', async () => {
    const path = pathOf(route);
    for (const spelling of [
      `${path}/`,
      `/${path}`,
      path.toUpperCase(),
      `${path};a=b`,
      `${path}%00`,
      `${path}/..%2f`,
    ]) {
      const reply = await call(target, spelling, { method: route.method, key: anyKeyFor(route) });
      expect([spelling, reply.status]).toEqual([spelling, 404]);
    }
  });

  it('chooses its own request id', async () => {
    const headers = { 'X-Request-Id': 'chosen', 'X-Amzn-Requestid': 'chosen', 'X-Amzn-Trace-Id': 'chosen' };
    const [first, second] = [await attack(route, { headers }), await attack(route, { headers })];
    expect(first.headers.get('x-request-id')).not.toBe('chosen');
    expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'));
  });

  it('names no part of its machinery', async () => {
    const reply = await attack(route, { key: anyKeyFor(route), query: '?x=1' });
    expect([...reply.headers.keys()].filter((name) => /powered|server|amz/.test(name))).toEqual([]);
    expect(reply.text).not.toMatch(/dynamo|lambda|\bat \S+:\d+|node_modules/i);
  });
});

describe("another seller's users", () => {
  it('are never listed, whatever the query says', async () => {
    const { key } = target.otherSeller;
    const reply = await call(target, '/v1/users', { key });
    expect(reply.json<{ total: number }>().total).toBe(0);
    expectProblem(await call(target, `/v1/users?seller_id=${target.sellerId}`, { key }), 'validation_failed');
  });
});
