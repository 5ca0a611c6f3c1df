/** The smoke test as a process, against the local service. `npm run test:deploy` runs it against a deployed stage. */
import { fileURLToPath } from 'node:url';
import { jsonOf, startProgram } from '#test/admin/cli/cli-process.ts';
import { runCommand } from '#test/admin/cli/in-process.ts';
import { useService } from '#test/service/use-service.ts';
import { startStub } from './stub-service.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/smoke.ts', import.meta.url));

const service = useService();

const start = (args: readonly string[], environment?: Readonly<Record<string, string>>) =>
  startProgram(PROGRAM, args, environment);

const smoke = (...args: readonly string[]) => start(args).ended;

const admin = (...args: readonly string[]) =>
  jsonOf(runCommand(['--data', service.folder, '--json', ...args]));

/** Returns the statuses of all keys that smoke tests have issued. */
const keyStatuses = async (): Promise<string[]> => {
  const { sellers } = await admin('sellers', 'list');
  const { seller_id } = sellers.find(({ name }: { name: string }) => name === 'Smoke test');
  const { keys } = await admin('keys', 'list', seller_id);
  return keys.map(({ status }: { status: string }) => status);
};

describe('the smoke test', () => {
  /** A run with --steps. */
  let shown: Awaited<ReturnType<typeof smoke>>;
  beforeAll(async () => {
    shown = await smoke('--local', '--steps', '--data', service.folder);
  });
  const isStep = (line: string): boolean => line.startsWith(' '.repeat(6));

  it('passes on the local service, prints a line of 80 columns for each expectation and revokes its keys', async () => {
    const { exitCode, out, error } = shown;
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
    const [first, ...lines] = out.trim().split('\n');
    expect(first).toBe(`Smoke test of ${service.demo.base_url}`);
    expect(lines.pop()).toMatch(/^25 passed, 0 failed, 0 skipped, in \d+ s\.$/);
    const results = lines.filter((line) => !isStep(line));
    expect(results).toHaveLength(25);
    expect(results.filter((line) => !/^ok {4}\S.* \d+ ms$/.test(line) || line.length > 80)).toEqual([]);
    expect(new Set(await keyStatuses())).toEqual(new Set(['revoked']));
  });

  it('prints the calls of each expectation with --steps: method, path, status and two fields at most', () => {
    const { out } = shown;
    const steps = out.split('\n').filter(isStep);
    const calls = [
      'GET /v1/users -> 401  code: invalid_api_key',
      'POST /v1/auth/otp/send -> 202  expires_in: 300  resend_after: 60',
      'POST /v1/auth/otp/send -> 429  code: resend_too_soon',
      'POST /v1/users -> 409  code: user_conflict',
    ];
    expect(steps).toEqual(expect.arrayContaining(calls.map((call) => `      ${call}`)));
    expect(out).toMatch(
      /^ok {4}POST \/v1\/users is 201 .*\n {6}POST \/v1\/users -> 201 {2}id: usr_\w+ {2}display_name: /m,
    );
    expect(out).toMatch(/^ok {4}DELETE .*\n {6}DELETE \/v1\/users\/usr_\w+ -> 204$/m);
  });

  it('leaves out what an emulator cannot pass, leaves no user, registration and code, uses its seller again, and prints no steps', async () => {
    const { exitCode, out } = await smoke('--local', '--data', service.folder, '--emulator');
    expect(exitCode).toBe(0);
    expect(out.split('\n').filter(isStep)).toEqual([]);
    expect(out).toContain('skip  GET /v1/nothing is 404 not_found\n');
    expect(out).toMatch(/^21 passed, 0 failed, 4 skipped/m);
    const { sellers } = await admin('sellers', 'list');
    const own = sellers.filter(({ name }: { name: string }) => name === 'Smoke test');
    expect(own).toMatchObject([{ users: 0 }]);
    const { records } = await admin('audit', 'deployment');
    expect(records[0]).toMatchObject({ action: 'buyer.erased', details: { codes: 1, registrations: 1 } });
  });

  it('makes only the requests without a key for a URL alone', async () => {
    const { exitCode, out } = await smoke('--url', service.demo.base_url);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^6 passed, 0 failed/m);
  });

  it('names each failed expectation with what was found, exits 1 and revokes its keys', async () => {
    const stub = await startStub((_, response) => void response.writeHead(500).end('no'));
    const { exitCode, out } = await smoke('--local', '--data', service.folder, '--url', stub.url);
    stub.stop();
    expect(exitCode).toBe(1);
    expect(out).toContain(
      'FAIL  GET /docs is 200\n      expected status 200, got status 500, request id missing\n',
    );
    expect(out).toMatch(/failed, 0 skipped, in \d+ s\.\n$/);
    expect(new Set(await keyStatuses())).toEqual(new Set(['revoked']));
  });

  it('revokes its keys after Ctrl-C and exits 1', async () => {
    const asked = Promise.withResolvers<void>();
    // Responds to the requests without a key, and never to those with one.
    const stub = await startStub((path, response) => {
      if (path === '/v1/users?page=0') asked.resolve();
      else response.writeHead(200, { 'X-Request-Id': 'stub' }).end('{}');
    });
    const { child, ended } = start(['--local', '--data', service.folder, '--url', stub.url]);
    await asked.promise;
    child.kill('SIGINT');
    const { exitCode, out } = await ended;
    stub.stop();
    expect(exitCode).toBe(1);
    expect(out).toMatch(/skipped, interrupted\.\n$/);
    expect(new Set(await keyStatuses())).toEqual(new Set(['revoked']));
  });
});

describe('the smoke test is refused in one sentence', () => {
  it.each([
    [[], 2, 'Name a deployment: --stage dev, --local or --url https://…'],
    [['--url', 'example.com'], 2, '--url must be https, or http on loopback.'],
    [['--url', 'http://example.com'], 2, '--url must be https, or http on loopback.'],
    [['--local', '--stage', 'dev'], 2, '--local and --stage exclude each other.'],
    [
      ['--local', '--data', '/nowhere'],
      1,
      'The local service is not running in /nowhere. Start it with npm start -- --data /nowhere.',
    ],
  ] as [string[], number, string][])('for %j with exit code %i', async (args, exitCode, sentence) => {
    const ended = await smoke(...args);
    expect(ended).toMatchObject({ exitCode, out: '' });
    expect(ended.error).toContain(sentence);
    expect(ended.error.trim().split('\n')).toHaveLength(1);
  });

  it('for a stage without credentials', async () => {
    const nobody = {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_REGION: 'eu-central-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    };
    expect(await start(['--stage', 'dev'], nobody).ended).toEqual({
      exitCode: 1,
      out: '',
      error:
        'error: No AWS credentials were found (CredentialsProviderError). Sign in, or name a profile with --profile.\n',
    });
  });
});
