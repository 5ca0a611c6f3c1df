import { run } from '#admin/cli/commands/program.ts';
import { logGroupPrefix } from '#admin/cli/logs/insights-query.ts';
import { authorize } from '#functions/authorizer.ts';
import { type GetKeyDeps, handle as getKey } from '#functions/get-key.ts';
import { ownKeyStore } from '#shared/api-keys/own-key.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { systemClock } from '#shared/clock.ts';
import { redirectLog } from '#shared/log.ts';
import { routes } from '#shared/routes.ts';
import { runCommand } from '#test/admin/cli/in-process.ts';
import { recordingTerminal } from '#test/admin/cli/recording-terminal.ts';
import { startAccountDouble } from '#test/bin/account-double.ts';
import { functionUnderTest } from '#test/functions/harness.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let aws: Awaited<ReturnType<typeof startAccountDouble>>;
let own: NodeJS.ProcessEnv;

const onProd = (...args: string[]) => runCommand(['--stage', 'prod', ...args]);

// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
const json = async (...args: string[]): Promise<any> => {
  const ended = await onProd('--json', ...args);
  expect(ended).toMatchObject({ exitCode: 0, error: '' });
  return JSON.parse(ended.out);
};

interface TestSeller {
  readonly sellerId: string;
  readonly keyId: string;
  readonly key: string;
}

const newSeller = async (name: string): Promise<TestSeller> => {
  const { seller_id: sellerId } = await json('sellers', 'create', name);
  const issued = await json('keys', 'issue', sellerId, '--plan', 'free', '--scopes', 'users:read');
  return { sellerId, keyId: issued.key_id, key: issued.key };
};

const group = (name: string): string => `${logGroupPrefix('prod')}${name}-AbCdEf123`;

/** Runs the real authorizer and the real function for a request, and puts the lines that they log into the stage's log groups. */
const request = async ({ sellerId, keyId, key }: TestSeller, requestId: string, agoMs = 0): Promise<void> => {
  const at = Date.now() - agoMs;
  const restore = redirectLog((line) => aws.logs.add(group('authorizerLog'), line, at));
  await authorize(
    {
      headers: { 'x-api-key': key },
      methodArn: 'arn:aws:execute-api:eu-central-1:111122223333:api/prod/GET/v1/key',
      requestContext: { requestId: 'chosen', extendedRequestId: requestId },
    } as never,
    { secrets: keySecretStore(table), keyPrefix: 'blk_live_', clock: systemClock },
  );
  restore();
  const deps = { keys: ownKeyStore(table) };
  const served = functionUnderTest<(typeof routes)['get-key'], GetKeyDeps>(
    routes['get-key'],
    getKey,
    table,
    deps,
  );
  const authorizer = { sellerId, keyId, plan: 'free', scopes: 'users:read', expiresAt: '' };
  await served.call({ authorizer, requestId });
  for (const line of served.lines) aws.logs.add(group('getkeyLog'), line, at);
};

/** Adds a line of the access log; test/lib/api-stack.test.ts checks its fields. API Gateway writes a hyphen for a value that is missing. */
const accessLine = (
  { keyId }: Pick<TestSeller, 'keyId'>,
  requestId: string,
  refusal: string,
  status = 200,
) => {
  const fields = { request_id: requestId, method: 'GET', resource: '/v1/events', status: String(status) };
  const line = { ...fields, refusal, key_id: keyId, latency_ms: '7', function_ms: '-' };
  aws.logs.add(group('AccessLog'), JSON.stringify(line));
};

let kaveh: TestSeller;
let other: TestSeller;
beforeAll(async () => {
  aws = await startAccountDouble(table);
  own = { ...process.env };
  // The SDK clients of commands that run in this process read it.
  Object.assign(process.env, aws.environment);
  kaveh = await newSeller('Kaveh Books');
  other = await newSeller("Other' or seller_id like /./");
  await request(kaveh, 'JKJaXmPLvHcESHA=', 60_000);
  accessLine(kaveh, 'JKJaXmPLvHcESHA=', '-');
  accessLine(kaveh, 'KLMbYnQMwIdFTIB=', 'ACCESS_DENIED', 403);
  await request(other, 'LMNcZoRNxJeGUJC=');
  await request(kaveh, 'MNOdApSOyKfHVKD=', 3 * 86_400_000);
});
afterAll(() => {
  for (const name of Object.keys(aws.environment)) delete process.env[name];
  Object.assign(process.env, own);
  aws.stop();
});

describe('logs --seller', () => {
  it("finds a seller's requests, newest first, also those that API Gateway refused, and no others", async () => {
    const { requests } = await json('logs', '--seller', 'kaveh books');
    expect(requests).toEqual([
      {
        request_id: 'KLMbYnQMwIdFTIB=',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        method: 'GET',
        path: '/v1/events',
        status: 403,
        code: 'insufficient_scope',
        duration_ms: 7,
        key_id: kaveh.keyId,
      },
      {
        request_id: 'JKJaXmPLvHcESHA=',
        at: expect.any(String),
        method: 'GET',
        path: '/v1/key',
        status: 200,
        code: null,
        duration_ms: expect.any(Number),
        key_id: kaveh.keyId,
      },
    ]);
  });

  it('finds only the requests of a status, of a time, or the newest ones', async () => {
    const idsOf = async (...args: string[]): Promise<string[]> =>
      (await json('logs', '--seller', kaveh.sellerId, ...args)).requests.map(
        ({ request_id }: { request_id: string }) => request_id,
      );
    expect(await idsOf('--status', '4')).toEqual(['KLMbYnQMwIdFTIB=']);
    expect(await idsOf('--status', '40')).toEqual(['KLMbYnQMwIdFTIB=']);
    expect(await idsOf('--status', '41')).toEqual([]);
    expect(await idsOf('--status', '200')).toEqual(['JKJaXmPLvHcESHA=']);
    expect(await idsOf('--since', '7d', '--until', '2d')).toEqual(['MNOdApSOyKfHVKD=']);
    expect(await idsOf('--limit', '1')).toEqual(['KLMbYnQMwIdFTIB=']);
  });

  it('resolves a name to an id, so that no name is part of a query', async () => {
    const { requests } = await json('logs', '--seller', "Other' or seller_id like /./");
    expect(requests).toMatchObject([{ request_id: 'LMNcZoRNxJeGUJC=' }]);
    expect(aws.logs.state.started.join()).not.toContain('/./');
  });

  it('shows a table on a terminal of 80 columns, and one value in each column of a pipe', async () => {
    const { terminal, written } = recordingTerminal({ output: { columns: 80, hasColor: false } });
    await run(['--stage', 'prod', 'logs', '--seller', kaveh.sellerId], terminal);
    const [head, refused, served] = written.out.split('\n');
    expect(head).toMatch(/^time \(UTC\) +status +request +ms +request id$/);
    expect(refused).toMatch(
      /^\d\d-\d\d \d\d:\d\d:\d\d {2}403 insufficient_scope {2}GET \/v1\/events {2}7 +KLMbYnQMwIdFTIB=$/,
    );
    expect(served).toMatch(/ 200 +GET \/v1\/key +\d+ +JKJaXmPLvHcESHA=$/);
    expect((await onProd('logs', '--seller', kaveh.sellerId)).out.split('\n')[1]?.split('\t')).toEqual([
      expect.stringMatching(/Z$/),
      '403',
      'insufficient_scope',
      'GET',
      '/v1/events',
      '7',
      kaveh.keyId,
      'KLMbYnQMwIdFTIB=',
    ]);
  });

  it('fits 80 columns with the longest problem code and the longest route', async () => {
    aws.logs.add(
      group('verifyotpLog'),
      JSON.stringify({
        event: 'request_completed',
        request_id: 'NOPeBqTPzLgIWLE=',
        seller_id: kaveh.sellerId,
        operation: 'verify-otp',
        status: 503,
        code: 'verification_unavailable',
        duration_ms: 27_000,
      }),
    );
    const { terminal, written } = recordingTerminal({ output: { columns: 80, hasColor: false } });
    await run(['--stage', 'prod', 'logs', '--seller', kaveh.sellerId, '--status', '5'], terminal);
    expect(written.out).toMatch(/^time/);
    expect(Math.max(...written.out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it('waits until the query is complete', async () => {
    aws.logs.state.runningReads = 2;
    const { requests } = await json('logs', '--seller', other.sellerId);
    aws.logs.state.runningReads = 0;
    expect(requests).toMatchObject([{ request_id: 'LMNcZoRNxJeGUJC=' }]);
  });

  it('ends with a sentence when CloudWatch does not complete the query', async () => {
    aws.logs.state.end = 'Failed';
    const ended = await onProd('logs', '--seller', kaveh.sellerId);
    aws.logs.state.end = 'Complete';
    expect(ended).toMatchObject({ exitCode: 1, out: '', error: expect.stringContaining('status Failed') });
  });
});

describe('logs --request', () => {
  it('shows every line of the authorizer, the function and the access log, without metrics', async () => {
    const { lines } = await json('logs', '--request', 'JKJaXmPLvHcESHA=', '--seller', kaveh.sellerId);
    const byEvent = Object.fromEntries(
      lines.map((line: Record<string, unknown>) => [line.event ?? 'access', line]),
    );
    expect(lines).toHaveLength(3);
    expect(byEvent).toMatchObject({
      key_checked: { outcome: 'allowed', seller_id: kaveh.sellerId },
      request_completed: { operation: 'get-key', status: 200, calls: expect.stringContaining('dynamodb:') },
      access: { method: 'GET', status: '200' },
    });
    expect(JSON.stringify(lines)).not.toMatch(/_aws|"Requests"/);
  });

  it('refuses a request of another seller, and an id that no line has', async () => {
    expect(await onProd('logs', '--request', 'LMNcZoRNxJeGUJC=', '--seller', kaveh.sellerId)).toMatchObject({
      exitCode: 1,
      out: '',
      error: `error: Request LMNcZoRNxJeGUJC= is not one of ${kaveh.sellerId}.\n`,
    });
    expect(await onProd('logs', '--request', 'MNOdApSOyKfHVKD=')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('--since 7d searches further back'),
    });
    expect((await json('logs', '--request', 'MNOdApSOyKfHVKD=', '--since', '7d')).lines).toHaveLength(2);
  });
});

describe('logs --query', () => {
  it('prints a command with the query and starts none; the query finds the same requests', async () => {
    const before = aws.logs.state.started.length;
    const { out } = await onProd('logs', '--seller', kaveh.sellerId, '--status', '403', '--query');
    expect(aws.logs.state.started).toHaveLength(before);
    const [, query = ''] =
      /^aws logs start-query --region eu-central-1 --start-time \d+ --end-time \d+ --query-string "([^"]+)"\n$/.exec(
        out,
      ) ?? [];
    expect(query).not.toMatch(/[$`\\]/);
    expect(aws.logs.run(query).flat()).toContainEqual({ field: 'request_id', value: 'KLMbYnQMwIdFTIB=' });
    const shown = await json('logs', '--request', 'JKJaXmPLvHcESHA=', '--query');
    expect(shown).toMatchObject({ log_group_prefix: 'buyer-linking-prod-api-', region: 'eu-central-1' });
    expect(aws.logs.run(shown.query)).toHaveLength(3);
  });
});

it.each([
  ['--request', "x' or status like /./"],
  ['--status', '4xx'],
  ['--status', '600'],
  ['--since', '366d'],
  ['--since', '2999-01-01'],
  ['--until', 'tomorrow'],
  ['--limit', '1001'],
])('logs refuses %s %j as a wrong command line', async (option, value) => {
  expect(await onProd('logs', '--seller', kaveh.sellerId, option, value)).toMatchObject({
    exitCode: 2,
    out: '',
  });
});

it.each([
  ['neither a seller nor a request is named', []],
  ['a status is asked of one request', ['--request', 'JKJaXmPLvHcESHA=', '--status', '4']],
  ['the time ends before it begins', ['--request', 'JKJaXmPLvHcESHA=', '--since', '1h', '--until', '2h']],
])('logs exits with 2 when %s', async (_title, args) => {
  expect(await onProd('logs', ...args)).toMatchObject({ exitCode: 2, out: '' });
});
