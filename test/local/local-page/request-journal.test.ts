import { requestJournal } from '#local/local-page/request-journal.ts';
import { problemBody } from '#shared/problems.ts';
import { routes } from '#shared/routes.ts';

const completed = (requestId: string, more: object = {}) => ({
  requestId,
  method: 'GET',
  route: routes['list-users'],
  status: 200,
  problem: undefined,
  durationMs: 5,
  ...more,
});
const logLine = (requestId: string) =>
  JSON.stringify({
    timestamp: '2026-11-22T12:00:00.000Z',
    level: 'INFO',
    event: 'request_completed',
    request_id: requestId,
    operation: 'list-users',
    status: 200,
    calls: 'dynamodb:Query=4',
    seller_id: 'sel_1',
    Requests: 1,
    _aws: {},
  });

describe('requestJournal', () => {
  it('joins a request with its completion line: seller, calls and problem', () => {
    const journal = requestJournal();
    const problem = problemBody('user_conflict', 'one');
    journal.onLogLine(logLine('one'));
    journal.onCompleted(completed('one', { status: 409, problem }), new Date('2026-11-22T12:00:01Z'));
    expect(journal.entries()).toEqual([
      {
        id: 'one',
        at: '2026-11-22T12:00:01.000Z',
        method: 'GET',
        path: '/v1/users',
        status: 409,
        duration_ms: 5,
        problem,
        log: { operation: 'list-users', calls: 'dynamodb:Query=4', seller_id: 'sel_1' },
      },
    ]);
  });

  it('takes a request without a completion line and an unknown path', () => {
    const journal = requestJournal();
    journal.onLogLine('{"event":"key_checked","request_id":"one"}');
    journal.onCompleted(completed('one', { route: undefined }));
    expect(journal.entries()).toMatchObject([{ id: 'one', path: undefined, log: {} }]);
  });

  it('names the seller and the key of a request that no function logged', () => {
    const journal = requestJournal();
    const caller = { seller_id: 'sel_1', key_id: 'key_1' };
    journal.onCompleted(completed('one', { status: 403, caller }));
    expect(journal.entries()[0]?.log).toEqual(caller);
  });

  it('keeps the last 200 requests, the newest first', () => {
    const journal = requestJournal();
    for (let id = 1; id <= 250; id += 1) journal.onCompleted(completed(String(id)));
    expect(journal.entries()).toHaveLength(200);
    expect([journal.entries()[0]?.id, journal.entries().at(-1)?.id]).toEqual(['250', '51']);
  });

  it('keeps the last 200 completion lines that no request has claimed', () => {
    const journal = requestJournal();
    for (let id = 1; id <= 201; id += 1) journal.onLogLine(logLine(String(id)));
    journal.onCompleted(completed('1'));
    journal.onCompleted(completed('2'));
    expect(journal.entries().map(({ log }) => log.seller_id)).toEqual(['sel_1', undefined]);
  });
});
