import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import { authorize } from '#functions/authorizer.ts';
import { ATTEMPTS, checkVersions, PAUSE_MS, TIME_MS } from '#probe/check-versions.ts';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { hashApiKey, newApiKey } from '#shared/api-keys/secret.ts';
import { systemClock } from '#shared/clock.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { logEvent, redirectLog } from '#shared/log.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { isSandboxPhone } from '#shared/providers/sandbox.ts';
import { runInRequest } from '#shared/request-context.ts';
import { requiresKey } from '#shared/route.ts';
import { allFunctions, allRoutes, routes } from '#shared/routes.ts';
import { useDeployedFunctions } from '#test/lib/deployed-functions.ts';
import { Refusal, startLambda, type Version } from '#test/simulators/lambda.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
const { handlerOf } = useDeployedFunctions(table);

/** Those that serve pages have them beside their bundle: the deploy to the emulator checks these. */
const NAMES = allFunctions
  .filter(({ permissions }) => permissions.site === undefined)
  .map(({ name }) => name);

const context = { getRemainingTimeInMillis: () => 20_000 } as Context;

const deployed =
  (name: string): Version =>
  async (event) =>
    (await handlerOf('plain', name))(event as never, context);

// Before the checks: a module that loads while another function counts a request can let its call time out.
beforeAll(async () => {
  for (const name of NAMES) await handlerOf('plain', name);
});

const allDeployed = (): Readonly<Record<string, Version>> =>
  Object.fromEntries(NAMES.map((name) => [name, deployed(name)]));

const storedItems = async () =>
  (await table.client.send(new ScanCommand({ TableName: table.name }))).Items ?? [];

const problem =
  (status: number, code: string, headers = { RateLimit: '"professional";r=1;t=1' }): Version =>
  () => ({ statusCode: status, headers, body: JSON.stringify({ code }) });

const OPTIONS = {
  keyPrefix: 'blk_test_',
  otpAccess: 'api-key',
  authorizerInService: 'fn-authorizer:live',
} as const;

interface Others {
  /** The authorizer that API Gateway invokes. */
  readonly inService?: Version;
  readonly readKey?: () => Promise<string | undefined>;
}

/** Checks versions, each by the name of its function. */
const check = async (versions: Readonly<Record<string, Version>>, { inService, readKey }: Others = {}) => {
  const names = Object.keys(versions);
  const lambda = await startLambda({
    ...Object.fromEntries(names.map((name) => [`fn-${name}:7`, versions[name] as Version])),
    ...(inService && { 'fn-authorizer:live': inService }),
  });
  const options = { ...OPTIONS, versions: Object.fromEntries(names.map((name) => [name, `fn-${name}:7`])) };
  const parts = { lambda: lambda.client, readKey, sleep: async () => {} };
  const result = await checkVersions(options, parts).then(
    (unchecked) => ({ fault: undefined, unchecked }),
    (error: Error) => ({ fault: error.message, unchecked: [] }),
  );
  lambda.stop();
  return { ...result, invoked: lambda.invoked, mostAtOnce: lambda.mostAtOnce() };
};

describe('the check of the functions of this checkout', () => {
  test('passes, on a table without the seller of the check, and asks four at a time at most', async () => {
    const { fault, unchecked, invoked, mostAtOnce } = await check(allDeployed());
    expect({ fault, unchecked }).toEqual({ fault: undefined, unchecked: [] });
    expect(new Set(invoked)).toEqual(new Set(NAMES.map((name) => `fn-${name}:7`)));
    expect(mostAtOnce).toBe(4);
  });

  test('leaves nothing but counts that expire', async () => {
    const before = (await storedItems()).filter(({ pk }) => !String(pk).includes('deploy_check'));
    await check(allDeployed());
    const others = new Set(before.map(({ pk, sk }) => `${pk} ${sk}`));
    const left = (await storedItems()).filter(({ pk, sk }) => !others.has(`${pk} ${sk}`));
    expect(left.length).toBeGreaterThan(0);
    for (const item of left)
      expect(item).toMatchObject({
        pk: expect.stringMatching(/^LIMIT#.*key_deploy_check/),
        ttl: expect.any(Number),
      });
  });

  test('goes as far as a user that does not exist, where an operation changes or checks one', () => {
    const expected = ['update-user', 'check-user', 'delete-user'] as const;
    expect(expected.map((name) => routes[name].check.expects)).toEqual(expected.map(() => 'user_not_found'));
  });

  test('raises no alarm: its lines have no metrics', async () => {
    const lines: string[] = [];
    const crashing: Version = async (event) => {
      const { requestContext } = event as { requestContext: { requestId: string } };
      await runInRequest(
        {
          requestId: requestContext.requestId,
          operation: 'get-user',
          deadline: deadlineIn(1000),
          calls: [],
        },
        async () => {
          const restore = redirectLog((line) => lines.push(line));
          logEvent('request_completed', {
            status: 500,
            code: 'internal',
            duration_ms: 1,
            outcome: 'internal',
          });
          restore();
        },
      );
      return null;
    };
    await check({ 'get-user': crashing });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(
      Array(ATTEMPTS).fill({ request_id: 'deploy-check', status: 500 }),
    );
    expect(lines.filter((line) => line.includes('CloudWatchMetrics'))).toEqual([]);
  });
});

test('the code that the check verifies is none of the sandbox, which would sign its phone in', () => {
  const { phone, code } = routes['verify-otp'].check.body;
  expect(isSandboxPhone(`+98${phone.slice(1)}`)).toBe(true);
  expect(sandboxCode(`+98${phone.slice(1)}`)).not.toBe(code);
});

test('a version that fails for want of a grant has 30 seconds at least until the last attempt: a grant takes effect after seconds', () => {
  expect((ATTEMPTS - 1) * PAUSE_MS).toBeGreaterThanOrEqual(30_000);
});

const throwing =
  (message: string): Version =>
  () => {
    throw new Error(message);
  };

const busy: Version = () => {
  throw new Refusal(429, 'TooManyRequestsException');
};

describe('a version fails the check', () => {
  test.each<[string, Readonly<Record<string, Version>>, string]>([
    [
      'that throws at its start',
      { 'list-users': throwing('environment variables missing or wrong: TABLE_NAME') },
      'list-users: Error: environment variables missing or wrong: TABLE_NAME',
    ],
    [
      'that responds internal',
      { 'get-user': problem(500, 'internal') },
      'get-user: status 500 internal in place of user_not_found',
    ],
    [
      'that responds with the status of its check and another code',
      { 'get-user': problem(404, 'not_found') },
      'get-user: status 404 not_found in place of user_not_found',
    ],
    ['that has no status', { 'get-jwks': () => null }, 'get-jwks: error: undefined in place of 200'],
    [
      'of the authorizer that cannot read the table',
      { authorizer: throwing('AccessDenied') },
      'authorizer: Error: AccessDenied in place of Unauthorized',
    ],
    [
      'of the authorizer that allows an unknown key',
      { authorizer: () => ({ principalId: 'x' }) },
      'in place of Unauthorized',
    ],
    [
      'of the authorizer that logs no outcome',
      { authorizer: throwing('Unauthorized') },
      'authorizer: Unauthorized with the outcome undefined in place of unknown',
    ],
  ])('%s', async (_, versions, fault) => {
    const result = await check({ ...versions, 'get-docs': () => ({ statusCode: 200 }) });
    expect(result.fault).toMatch(/^No alias was moved: /);
    expect(result.fault).toContain(fault);
    expect(result.fault).not.toContain('get-docs');
  });

  test('if it needs a key and does not count: its limiter lets requests pass when a grant is lost', async () => {
    const uncounted = allRoutes.map(({ name, check: { expects } }): [string, Version] => {
      const [status, code] =
        typeof expects === 'number' ? [expects, ''] : [PROBLEMS[expects].status, expects];
      return [name, problem(status, code, {} as never)];
    });
    const messages = await Promise.all(
      uncounted.map(async ([name, version]) => [name, (await check({ [name]: version })).fault]),
    );
    const failing = messages.filter(([, fault]) => fault?.includes('no header RateLimit: not counted'));
    const keyed = allRoutes.filter((row) => requiresKey(row, 'api-key')).map(({ name }) => name);
    expect(failing.map(([name]) => name)).toEqual(keyed);
  });

  test('only if it fails each time: IAM needs seconds to know a new grant', async () => {
    let calls = 0;
    const late: Version = (event) => {
      calls += 1;
      if (calls === 1) return busy(event);
      return { statusCode: calls === 2 ? 500 : 200, body: '{"code":"internal"}' };
    };
    expect(await check({ 'get-jwks': late })).toMatchObject({
      fault: undefined,
      invoked: Array(3).fill('fn-get-jwks:7'),
    });
  });

  test('and the message about many of them fits into the 4 kB that CloudFormation accepts', async () => {
    const long = throwing('x'.repeat(5000));
    const { fault } = await check(Object.fromEntries(NAMES.map((name) => [name, long])));
    expect(fault?.length).toBeLessThan(2000);
    expect(fault).toMatch(/; and \d+ more$/);
  });
});

describe('a version that gets no concurrency to the end', () => {
  test('is not checked, and named: the deploy that ends a flood must pass', async () => {
    const { fault, unchecked, invoked } = await check({ 'get-jwks': busy, 'get-docs': problem(200, '') });
    expect(fault).toBeUndefined();
    expect(unchecked).toEqual([expect.stringMatching(/^get-jwks: TooManyRequestsException/)]);
    expect(invoked.filter((version) => version === 'fn-get-jwks:7')).toHaveLength(ATTEMPTS);
  });
});

/** Time that passes when every task waits for it. */
const virtualTime = () => {
  const waiting: { readonly atMs: number; readonly wake: () => void }[] = [];
  let nowMs = 0;
  const sleep = (ms: number) => new Promise<void>((wake) => void waiting.push({ atMs: nowMs + ms, wake }));
  const runToEnd = async (task: Promise<unknown>): Promise<number> => {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    task.then(end, end);
    while (!isOver) {
      await new Promise(setImmediate);
      const next = waiting.sort((a, b) => a.atMs - b.atMs).shift();
      if (next === undefined) continue;
      nowMs = next.atMs;
      next.wake();
    }
    return nowMs;
  };
  return { nowMs: () => nowMs, sleep, runToEnd };
};

/** Checks every version, each of which fails after a time of its own. Returns when each was invoked, and when the check ended. */
const checkFailing = async (secondsOf: (row: (typeof allFunctions)[number]) => number) => {
  const { nowMs, sleep, runToEnd } = virtualTime();
  const invokedMs: number[] = [];
  const send = async ({ input: { FunctionName = '' } }: { input: { FunctionName?: string } }) => {
    invokedMs.push(nowMs());
    await sleep(
      1000 *
        Math.max(...allFunctions.map((row) => (FunctionName === `fn-${row.name}:7` ? secondsOf(row) : 0))),
    );
    return { Payload: Buffer.from('{"errorType":"Sandbox.Timedout","errorMessage":"timed out"}') };
  };
  const versions = Object.fromEntries(allFunctions.map(({ name }) => [name, `fn-${name}:7`]));
  const lambda = { send } as unknown as Parameters<typeof checkVersions>[1]['lambda'];
  const checking = checkVersions({ ...OPTIONS, versions }, { lambda, nowMs, sleep });
  const endMs = await runToEnd(checking);
  await expect(checking).rejects.toThrow('Sandbox.Timedout: timed out in place of');
  return { invokedMs, endMs };
};

test('a version without a good response after four minutes fails the check, which ends before its function: with every version that hangs as long as its time limit allows', async () => {
  const { invokedMs, endMs } = await checkFailing(({ timeoutSeconds }) => timeoutSeconds);
  expect(TIME_MS).toBe(240_000);
  expect(Math.max(...invokedMs)).toBeLessThan(TIME_MS);
  expect(endMs).toBeLessThan(300_000);
});

test('a version that pauses between two attempts holds up no other one: all that fail at once are known after the pauses of one', async () => {
  const { invokedMs, endMs } = await checkFailing(() => 0);
  expect(invokedMs).toHaveLength(ATTEMPTS * allFunctions.length);
  expect(endMs).toBe((ATTEMPTS - 1) * PAUSE_MS);
});

/** The real authorizer, with one key in its table. */
const KEY = newApiKey('blk_test_');
const SECRET: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read'],
  plan: 'free',
  usage_id: 'u'.repeat(40),
  status: 'active',
  seller_status: 'active',
  expires_at: Number.MAX_SAFE_INTEGER,
  number: 1,
};

const authorizerWith =
  (changes: Partial<Parameters<typeof authorize>[1]> & { readonly secret?: KeySecret } = {}): Version =>
  (event) =>
    authorize(event as APIGatewayRequestAuthorizerEvent, {
      secrets: {
        findSecret: async (hash) => (hash === hashApiKey(KEY) ? (changes.secret ?? SECRET) : undefined),
      },
      keyPrefix: 'blk_test_',
      clock: systemClock,
      ...changes,
    });

const right = authorizerWith();
const withWrongPrefix = authorizerWith({ keyPrefix: 'blk_live_' });
const onEmptyTable = authorizerWith({ secrets: { findSecret: async () => undefined } });
const withEveryKeyUnusable = authorizerWith({ clock: () => Number.POSITIVE_INFINITY });
const withKey = { readKey: async () => KEY };

describe('an authorizer that refuses every key', () => {
  test('for the wrong prefix fails the check in every stage', async () => {
    const { fault } = await check({ authorizer: withWrongPrefix });
    expect(fault).toContain('authorizer: Unauthorized with the outcome malformed in place of unknown');
  });

  test.each([
    ['since it reads an empty table', onEmptyTable],
    ['since no key is usable', withEveryKeyUnusable],
  ])(
    '%s fails the check where the key of the canary is stored, and passes elsewhere',
    async (_, authorizer) => {
      const { fault } = await check({ authorizer }, { ...withKey, inService: right });
      expect(fault).toBe(
        'No alias was moved: authorizer: Error: Unauthorized, and the version in service allows the key of the canary',
      );
      expect(await check({ authorizer })).toMatchObject({ fault: undefined, unchecked: [] });
      const withoutKey = { readKey: async () => undefined, inService: right };
      expect(await check({ authorizer }, withoutKey)).toMatchObject({
        fault: undefined,
        unchecked: ['authorizer: no key of the canary is stored'],
      });
    },
  );

  test.each([
    [
      'no operation of the key is in its policy',
      'allows no method',
      { Statement: [{ Effect: 'Allow', Resource: [] }] },
      {},
    ],
    ['its policy denies', 'allows no method', { Statement: [{ Effect: 'Deny', Resource: ['*'] }] }, {}],
    ['it names no usage plan key', 'names no usage plan key', undefined, { usageIdentifierKey: undefined }],
  ])('since %s fails the check too', async (_, fault, policyDocument, changes) => {
    const broken: Version = async (event) => ({
      ...((await right(event)) as object),
      ...(policyDocument && { policyDocument }),
      ...changes,
    });
    // An unknown key is refused as it must be.
    const result = await check({ authorizer: broken }, { ...withKey, inService: right });
    expect(result.fault).toContain(`authorizer: ${fault}, and the version in service`);
  });
});

describe('the key of the canary', () => {
  test('is allowed by a right authorizer, and the version in service is not asked', async () => {
    const { fault, unchecked, invoked } = await check(
      { authorizer: right },
      { ...withKey, inService: right },
    );
    expect({ fault, unchecked }).toEqual({ fault: undefined, unchecked: [] });
    expect(invoked).toEqual(['fn-authorizer:7', 'fn-authorizer:7']);
  });

  test.each<[string, Version | undefined, string]>([
    [
      'has ended, as the version in service says too',
      onEmptyTable,
      'as the version in service: Error: Unauthorized',
    ],
    [
      'cannot be compared, since no version is in service',
      undefined,
      'as the version in service: there is none',
    ],
  ])('that %s vetoes no deploy: it is named, after one attempt', async (_, inService, text) => {
    const result = await check({ authorizer: onEmptyTable }, { ...withKey, ...(inService && { inService }) });
    expect(result.fault).toBeUndefined();
    expect(result.unchecked).toEqual([expect.stringContaining(text)]);
    expect(result.invoked).toHaveLength(3);
  });

  test('vetoes no deploy if it cannot be read, or if the version in service gets no concurrency', async () => {
    const unreadable = async () => {
      throw Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    };
    const results = [
      await check({ authorizer: right }, { readKey: unreadable }),
      await check({ authorizer: onEmptyTable }, { ...withKey, inService: busy }),
    ];
    expect(results.map(({ fault }) => fault)).toEqual([undefined, undefined]);
    expect(results.map(({ unchecked }) => unchecked)).toEqual([
      ['authorizer: the key of the canary: AccessDeniedException'],
      [expect.stringContaining('authorizer: TooManyRequestsException')],
    ]);
  });
});
