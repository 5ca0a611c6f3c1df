/** The smoke test of a stage in AWS, over a simulation of the AWS services. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#test/admin/cli/in-process.ts';
import { startAccountDouble } from '#test/bin/account-double.ts';
import { useTable } from '#test/table/use-table.ts';
import { startStub } from './stub-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/smoke.ts', import.meta.url));

const table = useTable();
let aws: Awaited<ReturnType<typeof startAccountDouble>>;
beforeAll(async () => {
  aws = await startAccountDouble(table);
  // The smoke test and the SDK clients of commands that run in this process read it.
  Object.assign(process.env, aws.environment);
});
afterAll(() => aws.stop());

const smoke = async (...args: readonly string[]): Promise<void> => {
  await once(spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore' }), 'close');
};

describe('the smoke test of a stage', () => {
  it('where the providers are real, sends no request that needs a person, issues no key with buyers:register and revokes its keys', async () => {
    const paths: string[] = [];
    const stub = await startStub((path, response) => {
      paths.push(path);
      response.writeHead(200, { 'X-Request-Id': 'stub' }).end('{}');
    });
    await smoke('--stage', 'prod', '--url', stub.url);
    stub.stop();
    expect([...new Set(paths)].sort()).toEqual([
      '/.well-known/jwks.json',
      '/.well-known/openid-configuration',
      '/docs',
      '/v1/key',
      '/v1/nothing',
      '/v1/openapi.json',
      '/v1/users',
      '/v1/users/usr_unknown',
      '/v1/users?page=0',
      '/v1/users?page_size=1',
    ]);
    const admin = (...args: readonly string[]) => runCommand(['--stage', 'prod', '--json', ...args]);
    const { sellers } = JSON.parse((await admin('sellers', 'list')).out);
    const { keys } = JSON.parse((await admin('keys', 'list', sellers[0].seller_id)).out);
    expect(keys.map(({ status, scopes }: { status: string; scopes: string[] }) => [status, scopes])).toEqual([
      ['revoked', ['users:read', 'users:write']],
      ['revoked', ['users:read']],
    ]);
  });
});
