/**
 * The client as a seller gets it: generated, built, packed, installed into an empty project, and run as its README says, against the
 * whole local service. It installs from a registry, so `npm test` leaves it out: `npm run test:client` runs it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { registerBuyer } from '#test/scenarios/buyers.ts';
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));
const TYPESCRIPT = join(CLIENT, 'node_modules/typescript/bin/tsc');
const NODE_TYPES = join(CLIENT, '../node_modules/@types');
const INSTALL_MS = 180_000;

const run = promisify(execFile);

const npm = (folder: string, ...args: string[]) =>
  run('npm', args, { cwd: folder, env: { ...process.env, npm_config_update_notifier: 'false' } });

const readmeExample = async (): Promise<string> => {
  const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
  return /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
};

describe('the packed client', () => {
  let service: RunningService;
  let project: string;

  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'] });
    project = await mkdtemp(join(tmpdir(), 'buyer-linking-client-'));
    await writeFile(join(project, 'package.json'), '{ "name": "shop", "private": true, "type": "module" }');
    await npm(CLIENT, 'ci', '--no-audit', '--no-fund');
    await npm(CLIENT, 'pack', '--pack-destination', project);
    await npm(project, 'install', '--no-audit', '--no-fund', './buyer-linking-client-1.0.0.tgz');
  }, INSTALL_MS);

  afterAll(async () => {
    await service?.stop();
    await removeDataFolder(service?.folder);
    await rm(project, { recursive: true, force: true });
  });

  const runExample = async () => {
    const file = join(project, 'example.mts');
    await writeFile(file, await readmeExample());
    const { stdout } = await run(process.execPath, [file], {
      cwd: project,
      env: {
        ...process.env,
        BUYER_LINKING_URL: service.demo.base_url,
        BUYER_LINKING_API_KEY: service.demo.keys.free,
      },
    });
    return stdout.trim().split('\n');
  };

  it('is ready to be published: by its name and version, with code, types, license and README, and nothing else', async () => {
    const { stdout } = await npm(CLIENT, 'publish', '--dry-run', '--json', '--ignore-scripts');
    const published = JSON.parse(stdout) as Record<string, { id: string; files: { path: string }[] }>;
    const { id = '', files = [] } = published['buyer-linking-client'] ?? {};
    expect(id).toBe('buyer-linking-client@1.0.0');
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith('dist/')).sort()).toEqual([
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
  });

  it('has types that are generated from the current document', async () => {
    const committed = await readFile(join(CLIENT, 'src/generated/openapi.ts'), 'utf8');
    const now = join(project, 'openapi.ts');
    await run(process.execPath, [
      join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js'),
      join(CLIENT, '../openapi.json'),
      '--output',
      now,
    ]);
    expect(await readFile(now, 'utf8')).toBe(committed);
  });

  it('has one dependency with code', async () => {
    const { stdout } = await npm(project, 'ls', '--all', '--parseable');
    const names = stdout
      .trim()
      .split('\n')
      .slice(1)
      .map((path) => path.split('node_modules/').at(-1));
    expect(names.sort()).toEqual(['buyer-linking-client', 'openapi-fetch', 'openapi-typescript-helpers']);
  });

  it('runs the example of its README: not registered, then linked, then already linked', async () => {
    expect(await runExample()).toEqual(['Ask the buyer to register first.']);
    await registerBuyer(localTarget(service.demo), '+989990001006');
    expect(await runExample()).toEqual([expect.stringMatching(/^linked usr_/), '+989990001006 Sara Ahmadi']);
    expect(await runExample()).toEqual([
      expect.stringMatching(/^already linked usr_/),
      '+989990001006 Sara Ahmadi',
    ]);
  });

  it('has types that accept the example and reject a misspelled field', async () => {
    const example = await readmeExample();
    const narrowed =
      "const show = (e: unknown) => (isProblem(e, 'validation_failed') ? e.problem.errors[0]?.pointer : e);";
    const programs = {
      'right.ts': `${example}\n${narrowed}\nshow(1);`,
      'narrow.ts': `${example}\n${narrowed.replace('validation_failed', 'internal')}\nshow(1);`,
      'wrong.ts': example.replace('birth_date:', 'birthdate:'),
    };
    for (const [name, text] of Object.entries(programs)) await writeFile(join(project, name), text);
    const options = '--noEmit --strict --module nodenext --target es2022 --lib es2023,dom --types node';
    const args = [...options.split(' '), '--typeRoots', NODE_TYPES, ...Object.keys(programs)];
    const errors = await run(process.execPath, [TYPESCRIPT, ...args], { cwd: project }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
    expect(errors).not.toMatch(/^right\.ts/m);
    expect(errors).toMatch(/^narrow\.ts.*'errors' does not exist/m);
    expect(errors).toMatch(/^wrong\.ts.*'birthdate'/m);
  });
});
