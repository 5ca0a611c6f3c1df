/** The Python module that /docs serves, against a server that answers as the test says. `npm run test:docs` runs it: it needs python3. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import { PROBLEMS, type ProblemCode, problemBody } from '#shared/problems.ts';
import { describeWithPython } from '#test/client/with-python.ts';

const MODULE = fileURLToPath(new URL('../../client/python/buyer_linking.py', import.meta.url));
const KEY = 'blk_test_of_a_test';

interface Answer {
  readonly status: number;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const problemOf = (code: ProblemCode, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: PROBLEMS[code].status,
  body: problemBody(code, 'req-1'),
  headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '0', ...headers },
});

/**
 * Runs the program of each line of JSON in a process of its own, and answers with what it printed. It forks after it has loaded the standard
 * library, which takes a tenth of a CPU second.
 */
const RUNNER = `
import datetime, http.client, itertools, json, logging, math, os, random, re, socket, sys, time, traceback, urllib.request
for line in sys.stdin:
    task = json.loads(line)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.dup2(writer, 1)
        os.environ.update(task["env"])
        try:
            exec(task["program"], {})
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with open(reader) as output:
        printed = output.read()
    os.wait()
    print(json.dumps(printed), flush=True)
`;

let python: ChildProcessByStdio<Writable, Readable, null> | undefined;
let outputs: AsyncIterator<string>;
let server: LoopbackServer;
let answers: (Answer | 'silence')[] = [];
let received: string[] = [];

beforeAll(async () => {
  server = await listenOnLoopback(0, async ({ method, url, headers }, response) => {
    const token = headers.authorization === undefined ? '' : ` ${headers.authorization}`;
    received.push(`${method} ${url} ${headers['x-api-key']}${token}`);
    const answer = answers.shift() ?? problemOf('internal');
    if (answer === 'silence') return;
    const { status, body, headers: sent } = answer;
    response.writeHead(status, { 'Content-Type': 'application/json', ...sent });
    response.end(typeof body === 'string' ? body : body && JSON.stringify(body));
  });
  python = spawn('python3', ['-c', RUNNER], {
    cwd: dirname(MODULE),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  outputs = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
});

afterAll(async () => {
  python?.stdin.end();
  await server?.close();
});

/** In place of the waits, which it prints: with half of the jitter. */
const WAITS = 'random.random = lambda: 0.5; time.sleep = print;';

/** Runs statements after an import of the module. Returns what they print, the error at their end included. */
const run = async (
  statements: string,
  replies: readonly (Answer | 'silence')[],
  url = `http://localhost:${server.port}`,
  key = KEY,
) => {
  [answers, received] = [[...replies], []];
  const program = `from buyer_linking import *\nrandom.random = lambda: 0\ntry:\n  ${statements}\nexcept Exception as error:\n  print(type(error).__name__, error)`;
  const env = { BUYER_LINKING_URL: url, BUYER_LINKING_API_KEY: key };
  python?.stdin.write(`${JSON.stringify({ program, env })}\n`);
  const { value } = await outputs.next();
  return (JSON.parse(value) as string).trim();
};

describeWithPython('the Python module', () => {
  it('sends the key and the body, and returns the body of the response', async () => {
    const printed = await run('print(call("POST", "/v1/users", {"phone": "0"})["id"])', [
      { status: 201, body: { id: 'usr_1' } },
    ]);
    expect([printed, received]).toEqual(['usr_1', [`POST /v1/users ${KEY}`]]);
  });

  it('sends the access token of a buyer', async () => {
    await run('call("POST", "/v1/buyer/links/find", {}, access_token="a.b.c")', [{ status: 200, body: {} }]);
    expect(received).toEqual([`POST /v1/buyer/links/find ${KEY} Bearer a.b.c`]);
  });

  it('takes the line break from the end of the key, and shows no key that cannot be sent', async () => {
    const address = `http://localhost:${server.port}`;
    const ofFile = await run(
      'print(call("GET", "/v1/key"))',
      [{ status: 200, body: {} }],
      address,
      `${KEY}\n`,
    );
    expect([ofFile, received]).toEqual(['{}', [`GET /v1/key ${KEY}`]]);
    const broken = await run('call("GET", "/v1/key")', [], address, `${KEY}\nx`);
    expect([broken, received]).toEqual([expect.stringMatching(/^ValueError .*has a character/), []]);
    expect(broken).not.toContain(KEY);
  });

  it('refuses a path that is not escaped, at once', async () => {
    expect(await run('call("GET", "/v1/users?phone=0912 1")', [])).toMatch(
      /^ValueError .*urllib\.parse\.quote/,
    );
  });

  it('repeats a request whose Retry-After is a date', async () => {
    const answer = problemOf('service_unavailable', { 'Retry-After': 'Fri, 27 Nov 2026 00:00:00 GMT' });
    expect(await run('print(call("GET", "/v1/users"))', [answer, { status: 200, body: {} }])).toBe('{}');
  });

  it('gives a problem its code, reason, seconds and request id', async () => {
    const body = problemBody('resend_too_soon', 'req-1', { reason: 'cool_down', retryAfterSeconds: 42 });
    const program =
      'try: call("POST", "/v1/auth/otp/send", {})\n  except Problem as problem: print(problem.code, problem.reason, problem.retry_after, problem.request_id, problem.errors)';
    expect(await run(program, [{ ...problemOf('resend_too_soon'), body }])).toBe(
      'resend_too_soon cool_down 42 req-1 []',
    );
  });

  it('logs each wait before a repetition, as a warning', async () => {
    const answer = problemOf('service_unavailable', { 'Retry-After': '0' });
    const program =
      'import sys; logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s"); call("GET", "/v1/key")';
    expect(await run(program, [answer, { status: 200, body: {} }])).toBe(
      'WARNING waits 0.0 s before retry 1: service_unavailable',
    );
  });

  it.each([
    ['BUYER_LINKING_URL', '', KEY],
    ['BUYER_LINKING_API_KEY', undefined, ''],
  ])('says that %s is missing', async (name, url, key) => {
    expect(await run('call("GET", "/v1/key")', [], url, key)).toBe(
      `ValueError Set the environment variable ${name}.`,
    );
    expect(received).toEqual([]);
  });

  const PERSON = '{"national_id": "9", "birth_date": "1", "phone": "+98", "display_name": "n"}';
  const user = { id: 'usr_1', phone: '+98', checked_at: '2026-11-21T08:30:00.000Z' };
  const FIND = `GET /v1/users?phone=%2B98&page_size=100 ${KEY}`;

  it('tells a new user from a known one', async () => {
    const program = `print(link_buyer(${PERSON})[1], link_buyer(${PERSON})[1])`;
    const answers = [201, 200].map((status) => ({ status, body: user }));
    expect(await run(program, answers)).toBe('True False');
  });

  it('finds the users of a phone and the whole days since the last check', async () => {
    const checked_at = new Date(Date.now() - 3.9 * 86_400_000).toISOString();
    const body = { data: [{ ...user, checked_at }] };
    const program = 'print(find_by_phone("+98")[1], find_by_phone("+98"))';
    const answers = [body, { data: [] }].map((page) => ({ status: 200, body: page }));
    expect(await run(program, answers)).toBe('3 ([], None)');
    expect(received).toEqual([FIND, FIND]);
  });

  const conflict = { ...problemBody('user_conflict', 'req-1', { user_id: 'usr_1' }) };

  it.each<[string, Answer, number, string]>([
    ['a new user, without a check', { status: 201, body: user }, 0, 'True'],
    ['a known user after a check', { status: 200, body: user }, 1, 'False'],
    ['the user of user_conflict after a check', { status: 409, body: conflict }, 1, 'False'],
  ])('confirms %s, and removes the other users of the phone', async (_case, linked, checks, isNew) => {
    const found = { status: 200, body: { data: [{ ...user, id: 'usr_2' }, user] } };
    const checked = Array<Answer>(checks).fill({ status: 200, body: user });
    const answers = [linked, ...checked, found, { status: 204 }];
    expect(await run(`print(confirm_buyer(${PERSON})[1])`, answers)).toBe(isNew);
    expect(received).toEqual([
      `POST /v1/users ${KEY}`,
      ...Array<string>(checks).fill(`POST /v1/users/usr_1/checks ${KEY}`),
      FIND,
      `DELETE /v1/users/usr_2 ${KEY}`,
    ]);
  });

  it('raises a problem with its code and every wrong field', async () => {
    const errors = [{ pointer: '#/phone', code: 'required', detail: 'Is required.' } as const];
    const body = { ...problemBody('validation_failed', 'req-1', { errors }) };
    const printed = await run('call("POST", "/v1/users", {})', [{ ...problemOf('validation_failed'), body }]);
    expect(printed).toMatch(/^Problem validation_failed: .*#\/phone.*Is required\./);
  });

  it.each<[string, ProblemCode, string, number, number]>([
    ['GET /v1/users', 'service_unavailable', '0', 4, 4],
    ['POST /v1/users', 'rate_limit_exceeded', '0', 1, 4],
    ['POST /v1/users', 'too_many_attempts', '0', 1, 4],
    ['POST /v1/users', 'verification_unavailable', '0', 1, 1],
    ['POST /v1/users', 'user_conflict', '0', 1, 1],
    ['POST /v1/users', 'rate_limit_exceeded', '91', 1, 1],
    ['POST /v1/auth/otp/send', 'service_unavailable', '0', 1, 1],
    ['POST /v1/auth/otp/send', 'rate_limit_exceeded', '0', 1, 4],
    ['POST /v1/key/secrets', 'internal', '0', 1, 1],
    ['POST /v1/key/secrets', 'rate_limit_exceeded', '0', 1, 4],
  ])(
    'sends %s, answered %s with Retry-After %s, in all %i times, and %i times with max_wait_seconds',
    async (operation, code, seconds, times, timesWithWait) => {
      const answers = Array<Answer>(5).fill(problemOf(code, { 'Retry-After': seconds }));
      const request = `"${operation.replace(' ', '", "')}"`;
      await run(`call(${request})`, answers);
      expect(received).toHaveLength(times);
      await run(`call(${request}, max_wait_seconds=90)`, answers);
      expect(received).toHaveLength(timesWithWait);
    },
  );

  it('waits for Retry-After and up to half a second more, at most 3 seconds in all, or as many as it is told', async () => {
    const answers = Array<Answer>(5).fill(problemOf('service_unavailable', { 'Retry-After': '1' }));
    expect(await run(`${WAITS} call("GET", "/v1/key")`, answers)).toMatch(/^1\.25\n1\.25\nProblem service_/);
    const told = `${WAITS} call("GET", "/v1/key", max_wait_seconds=1.25)`;
    expect(await run(told, answers)).toMatch(/^1\.25\nProblem service_/);
  });

  it('waits longer and longer after no response, and sends nothing a second time that can have had its effect', async () => {
    const lost = Array<'silence'>(5).fill('silence');
    const soon = `${WAITS} import buyer_linking; buyer_linking.TIMEOUT_SECONDS = 0.2;`;
    const waiting = await run(`${soon} call("GET", "/v1/key", max_wait_seconds=90)`, lost);
    expect(waiting).toMatch(/^0\.125\n0\.25\n0\.5\n_TimedOut /);
    await run(`${soon} call("POST", "/v1/auth/otp/verify", max_wait_seconds=90)`, lost);
    expect(received).toHaveLength(1);
  });

  it('fails within one timeout if the server accepts and says nothing', async () => {
    const program =
      'import buyer_linking; buyer_linking.TIMEOUT_SECONDS = 0.2; call("POST", "/v1/users", {})';
    expect(await run(program, ['silence'])).toMatch(/no response: timed out$/);
    expect(received).toHaveLength(1);
  });

  it('raises the page of a proxy as a problem of its status, also of a success', async () => {
    const page = '<h1>Sign in</h1>';
    const said = 'the response is not from the service: check BUYER_LINKING_URL';
    for (const status of [200, 403])
      expect(await run('call("GET", "/v1/key")', [{ status, body: page }])).toBe(
        `Problem http_${status}: ${said}`,
      );
  });

  it('follows no redirect, which would take the key to another address', async () => {
    const other = `http://127.0.0.1:${server.port}/elsewhere`;
    const printed = await run('call("GET", "/v1/users")', [{ status: 302, headers: { Location: other } }]);
    expect([printed, received]).toEqual([expect.stringContaining('http_302'), [`GET /v1/users ${KEY}`]]);
  });

  it('says address and cause, without the query, if no response comes', async () => {
    const closed = await listenOnLoopback(0, async () => {});
    await closed.close();
    const address = `http://localhost:${closed.port}`;
    const program = 'import buyer_linking; buyer_linking.RETRIES = 0; call("GET", "/v1/users?phone=0912")';
    expect(await run(program, [], address)).toMatch(
      new RegExp(`^ConnectionError GET ${address}/v1/users: no response: .*refused`),
    );
  });

  it.each(['http://api.example.com', 'http://localhost.example.com', 'api.example.com'])(
    'refuses the address %s, which would send the key unencrypted',
    async (address) => {
      expect(await run('call("GET", "/v1/users")', [], address)).toMatch(/^ValueError .*https:\/\//);
    },
  );

  it('waits for the next minute while all users are read', async () => {
    const answers = [
      problemOf('rate_limit_exceeded', { 'Retry-After': '60' }),
      { status: 200, body: { data: [{ id: 'a' }], next_after: null } },
    ];
    expect(await run(`${WAITS} print(list(users()))`, answers)).toBe("60.25\n[{'id': 'a'}]");
  });

  it('reads all users after the last one of each page', async () => {
    const pages = [
      { status: 200, body: { data: [{ id: 'a' }, { id: 'b' }], next_after: 'b' } },
      { status: 200, body: { data: [{ id: 'c' }], next_after: null } },
    ];
    expect(await run('print([user["id"] for user in users()])', pages)).toBe("['a', 'b', 'c']");
    expect(received).toEqual([
      `GET /v1/users?page_size=100 ${KEY}`,
      `GET /v1/users?page_size=100&after=b ${KEY}`,
    ]);
  });

  it('follows the events after a number, and each page after the last event of the one before', async () => {
    const pages = [
      { status: 200, body: { data: [{ sequence: 3 }, { sequence: 4 }], has_more: true } },
      { status: 200, body: { data: [{ sequence: 5 }], has_more: false } },
    ];
    const program = 'found = events(2); print([next(found)["sequence"] for _ in range(3)])';
    expect(await run(program, pages)).toBe('[3, 4, 5]');
    expect(received).toEqual([`GET /v1/events?after=2 ${KEY}`, `GET /v1/events?after=4 ${KEY}`]);
  });

  it('follows the events through an outage of any length and a limit that is used up', async () => {
    const limited = problemOf('rate_limit_exceeded', { 'Retry-After': '3000' });
    const outage = Array<Answer>(9).fill({ status: 502 });
    const page = { status: 200, body: { data: [{ sequence: 3 }], has_more: false } };
    const program = `${WAITS} import buyer_linking; buyer_linking.TIMEOUT_SECONDS = 0.2; print(next(events(2)))`;
    expect((await run(program, [limited, ...outage, 'silence', page])).split('\n')).toEqual([
      '3000.25',
      '0.25',
      '0.5',
      '1.0',
      '2.0',
      ...Array<string>(6).fill('4.0'),
      "{'sequence': 3}",
    ]);
  });

  it('ends the events with a problem that no repetition helps', async () => {
    expect(await run('next(events(2))', [problemOf('events_expired')])).toMatch(/^Problem events_expired/);
  });

  it('shows no key when address and key are swapped', async () => {
    const printed = await run('call("GET", "/v1/key")', [], KEY, `http://localhost:${server.port}`);
    expect(printed).toMatch(/^ValueError BUYER_LINKING_URL /);
    expect(printed).not.toContain(KEY);
  });
});
