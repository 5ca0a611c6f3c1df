import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import { ATTEMPTS, checkVersions, PAUSE_MS } from '#probe/check-versions.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { isSandboxPhone } from '#shared/providers/sandbox.ts';
import { allFunctions, routes } from '#shared/routes.ts';
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

const storedItems = async () =>
  (await table.client.send(new ScanCommand({ TableName: table.name }))).Items ?? [];

const problem =
  (status: number, code: string): Version =>
  () => ({ statusCode: status, body: JSON.stringify({ code }) });

/** Checks versions, each by the name of its function. */
const check = async (versions: Readonly<Record<string, Version>>) => {
  const names = Object.keys(versions);
  const lambda = await startLambda(
    Object.fromEntries(names.map((name) => [`fn-${name}:7`, versions[name] as Version])),
  );
  const options = {
    versions: Object.fromEntries(names.map((name) => [name, `fn-${name}:7`])),
    keyPrefix: 'blk_test_',
  } as const;
  const fault = await checkVersions(options, lambda.client, 0).then(
    () => undefined,
    (error: Error) => error.message,
  );
  lambda.stop();
  return { fault, invoked: lambda.invoked };
};

describe('the check of the functions of this checkout', () => {
  test('passes, on a table without the seller of the check', async () => {
    const { fault, invoked } = await check(Object.fromEntries(NAMES.map((name) => [name, deployed(name)])));
    expect(fault).toBeUndefined();
    expect(new Set(invoked)).toEqual(new Set(NAMES.map((name) => `fn-${name}:7`)));
  });

  test('leaves nothing but counts that expire', async () => {
    const before = (await storedItems()).filter(({ pk }) => !String(pk).includes('deploy_check'));
    await check(Object.fromEntries(NAMES.map((name) => [name, deployed(name)])));
    const others = new Set(before.map(({ pk, sk }) => `${pk} ${sk}`));
    const left = (await storedItems()).filter(({ pk, sk }) => !others.has(`${pk} ${sk}`));
    expect(left.length).toBeGreaterThan(0);
    for (const item of left)
      expect(item).toMatchObject({
        pk: expect.stringMatching(/^LIMIT#.*key_deploy_check/),
        ttl: expect.any(Number),
      });
  });
});

test('the code that the check verifies is none of the sandbox, which would sign its phone in', () => {
  const { phone, code } = routes['verify-otp'].check.body;
  expect(isSandboxPhone(`+98${phone.slice(1)}`)).toBe(true);
  expect(sandboxCode(`+98${phone.slice(1)}`)).not.toBe(code);
});

test('a version that fails for want of a grant has 30 seconds at least until the last attempt: IAM knows a grant everywhere after seconds', () => {
  expect((ATTEMPTS - 1) * PAUSE_MS).toBeGreaterThanOrEqual(30_000);
});

describe('a version fails the check', () => {
  test.each<[string, Readonly<Record<string, Version>>, string]>([
    [
      'that throws at its start',
      {
        'list-users': () => {
          throw new Error('environment variables missing or wrong: TABLE_NAME');
        },
      },
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
      {
        authorizer: () => {
          throw new Error('AccessDenied');
        },
      },
      'authorizer: Error: AccessDenied in place of Unauthorized',
    ],
    [
      'of the authorizer that allows an unknown key',
      { authorizer: () => ({ principalId: 'x' }) },
      'in place of Unauthorized',
    ],
  ])('%s', async (_, versions, fault) => {
    const result = await check({ ...versions, 'get-docs': () => ({ statusCode: 200 }) });
    expect(result.fault).toMatch(/^No alias was moved: /);
    expect(result.fault).toContain(fault);
    expect(result.fault).not.toContain('get-docs');
  });

  test('only if it fails each time: Lambda may lack concurrency, and IAM needs seconds to know a new grant', async () => {
    let calls = 0;
    const late: Version = () => {
      calls += 1;
      if (calls === 1) throw new Refusal(429, 'TooManyRequestsException');
      return { statusCode: calls === 2 ? 500 : 200, body: '{"code":"internal"}' };
    };
    expect(await check({ 'get-jwks': late })).toEqual({
      fault: undefined,
      invoked: Array(3).fill('fn-get-jwks:7'),
    });
    const busy: Version = () => {
      throw new Refusal(429, 'TooManyRequestsException');
    };
    const { fault, invoked } = await check({ 'get-jwks': busy });
    expect(fault).toContain('get-jwks: TooManyRequestsException');
    expect(invoked).toHaveLength(6);
  });

  test('and the message about many of them fits into the 4 kB that CloudFormation accepts', async () => {
    const long: Version = () => {
      throw new Error('x'.repeat(5000));
    };
    const { fault } = await check(Object.fromEntries(NAMES.map((name) => [name, long])));
    expect(fault?.length).toBeLessThan(2000);
    expect(fault).toMatch(/; and \d+ more$/);
  });
});
