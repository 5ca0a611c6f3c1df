import { localRequests } from '#admin/cli/logs/local-requests.ts';
import { requestJournal } from '#local/local-page/request-journal.ts';
import { localPaths } from '#local/local-paths.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { Simulators } from '#local/simulators/server.ts';
import { problemBody } from '#shared/problems.ts';
import { routes } from '#shared/routes.ts';

const journal = requestJournal();
const simulators = {
  latestMessages: () => [{ phone: '+989550000001', code: '123456', sent_at: '2026-11-21T12:00:00.000Z' }],
  faults: { list: () => [] },
} as unknown as Simulators;

let server: LoopbackServer;
let baseUrl: string;
beforeAll(async () => {
  const serve = localPaths({ simulators, demo: {}, requests: journal.entries, reset: async () => 0 });
  server = await listenOnLoopback(0, serve);
  baseUrl = `http://127.0.0.1:${server.port}`;
  const errors = [
    { pointer: '#/phone', detail: 'x' },
    { pointer: '#/09121234567', detail: 'x' },
  ];
  const problem = problemBody('validation_failed', 'bb', { errors });
  const request = { method: 'POST', route: routes['create-user'], durationMs: 5 };
  const caller = { seller_id: 'sel_1', key_id: 'key_1' };
  const times = ['2026-11-22T12:00:00Z', '2026-11-22T13:00:00Z', '2026-11-22T14:00:00Z'];
  const [first, second, third] = times.map((time) => new Date(time));
  journal.onCompleted({ ...request, requestId: 'aaaa-1', status: 201, problem: undefined, caller }, first);
  journal.onCompleted({ ...request, requestId: 'bbbb-1', status: 422, problem, caller }, second);
  const unknown = { ...request, route: undefined, status: 404, problem: undefined };
  journal.onCompleted({ ...unknown, requestId: 'bbbb-2' }, third);
});
afterAll(() => server.close());

const secondsOf = (time: string): number => Date.parse(time) / 1000;
const search = {
  sellerId: 'sel_1',
  keyIds: [],
  status: undefined as string | undefined,
  since: secondsOf('2026-11-22T12:00:00Z'),
  until: secondsOf('2026-11-22T14:00:00Z'),
  limit: 50,
};

const idsOf = async (changes: Partial<typeof search>): Promise<string[]> =>
  (await localRequests(baseUrl).find({ ...search, ...changes })).map(({ request_id }) => request_id);

describe('find', () => {
  it('returns the requests of a seller, the newest first, by status, time and number', async () => {
    expect(await idsOf({})).toEqual(['bbbb-1', 'aaaa-1']);
    expect(await idsOf({ status: '4' })).toEqual(['bbbb-1']);
    expect(await idsOf({ since: search.since + 1 })).toEqual(['bbbb-1']);
    expect(await idsOf({ until: search.since })).toEqual(['aaaa-1']);
    expect(await idsOf({ limit: 1 })).toEqual(['bbbb-1']);
    expect(await idsOf({ sellerId: 'sel_2' })).toEqual([]);
  });
});

describe('linesOf', () => {
  it('returns a request with its error and the names of wrong fields, except names that the caller invented', async () => {
    expect(await localRequests(baseUrl).linesOf('bbbb-1', search)).toEqual([
      {
        request_id: 'bbbb-1',
        at: '2026-11-22T13:00:00.000Z',
        method: 'POST',
        path: '/v1/users',
        status: 422,
        duration_ms: 5,
        code: 'validation_failed',
        detail: expect.stringContaining('A field or parameter'),
        wrong_fields: ['phone', '(unknown name)'],
        seller_id: 'sel_1',
        key_id: 'key_1',
      },
    ]);
  });

  it('takes the beginning of an id, and refuses one that two requests share with both ids', async () => {
    expect(await localRequests(baseUrl).linesOf('aaaa', search)).toMatchObject([{ request_id: 'aaaa-1' }]);
    await expect(localRequests(baseUrl).linesOf('bbbb', search)).rejects.toMatchObject({
      code: 'ambiguous',
      message: expect.stringMatching(/bbbb-2\n {2}bbbb-1/),
    });
  });
});

it('says how to start the service when it does not respond', async () => {
  const log = localRequests('http://127.0.0.1:1');
  await expect(log.find(search)).rejects.toMatchObject({
    code: 'not_reachable',
    message: expect.stringContaining('npm start'),
  });
});
