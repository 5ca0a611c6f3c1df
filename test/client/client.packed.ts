/**
 * The client as a seller gets it: the two files that the service serves, in an empty folder, and the package of a release, installed into
 * an empty project. Both run as the README says, against the whole local service. It installs from a registry, so `npm test` leaves it
 * out: `npm run test:client` runs it.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

const FILES = ['buyer-linking-client.mjs', 'buyer-linking-client.d.mts'];

let service: RunningService;
let folder: string;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'], withSite: true });
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-client-'));
}, INSTALL_MS);

afterAll(async () => {
  await service?.stop();
  await removeDataFolder(service?.folder);
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program in a folder, and returns the lines that it prints. */
const linesOf = async (cwd: string, program: string) => {
  await writeFile(join(cwd, 'example.mts'), program);
  const address = { BUYER_LINKING_URL: service.demo.base_url, BUYER_LINKING_API_KEY: service.demo.keys.free };
  const { stdout } = await run(process.execPath, ['example.mts'], {
    cwd,
    env: { ...process.env, ...address },
  });
  return stdout.trim().split('\n');
};

describe('the served client', () => {
  let shop: string;

  beforeAll(async () => {
    shop = join(folder, 'served');
    await mkdir(shop);
    for (const file of FILES) {
      const response = await fetch(`${service.demo.base_url}/docs/${file}`);
      await writeFile(join(shop, file), await response.text());
    }
  });

  it('runs the example of its README: not registered, then linked, then already linked', async () => {
    const example = await readmeExample();
    expect(await linesOf(shop, example)).toEqual(['Ask the buyer to register first.']);
    await registerBuyer(localTarget(service.demo), '+989990001006');
    const listed = '+989990001006 Sara Ahmadi';
    expect(await linesOf(shop, example)).toEqual([expect.stringMatching(/^linked usr_/), listed]);
    expect(await linesOf(shop, example)).toEqual([expect.stringMatching(/^already linked usr_/), listed]);
  });

  it('has types that accept the example and reject a misspelled field', async () => {
    const example = await readmeExample();
    const narrowed =
      "const show = (e: unknown) => (isProblem(e, 'validation_failed') ? e.problem.errors[0]?.pointer : e);";
    const programs = {
      'right.mts': `${example}\n${narrowed}\nshow(1);`,
      'narrow.mts': `${example}\n${narrowed.replace('validation_failed', 'internal')}\nshow(1);`,
      'wrong.mts': example.replace('birth_date:', 'birthdate:'),
    };
    for (const [name, text] of Object.entries(programs)) await writeFile(join(shop, name), text);
    const options =
      '--noEmit --strict --skipDefaultLibCheck --exactOptionalPropertyTypes --module nodenext --target es2022 --lib es2023,dom --types node';
    const args = [...options.split(' '), '--typeRoots', NODE_TYPES, ...Object.keys(programs)];
    const errors = await run(process.execPath, [TYPESCRIPT, ...args], { cwd: shop }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
    expect(errors).not.toMatch(/^(?:right|buyer-linking-client)\./m);
    expect(errors).toMatch(/^narrow\.mts.*'errors' does not exist/m);
    expect(errors).toMatch(/^wrong\.mts.*'birthdate'/m);
  });
});

describe('the packed client', () => {
  let project: string;

  beforeAll(async () => {
    project = join(folder, 'packed');
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{ "name": "shop", "private": true }');
    await npm(CLIENT, 'pack', '--pack-destination', project);
    await npm(project, 'install', '--no-audit', '--no-fund', './buyer-linking-client-1.0.0.tgz');
  }, INSTALL_MS);

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
    const now = join(folder, 'openapi.ts');
    await run(process.execPath, [
      join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js'),
      join(CLIENT, '../openapi.json'),
      '--output',
      now,
    ]);
    expect(await readFile(now, 'utf8')).toBe(committed);
  });

  it('has one dependency with code', async () => {
    const { packages } = JSON.parse(await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8'));
    const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1));
    expect(names.sort()).toEqual(['buyer-linking-client', 'openapi-fetch', 'openapi-typescript-helpers']);
  });

  it('runs the example of its README by the name of the package', async () => {
    const example = (await readmeExample()).replace('./buyer-linking-client.mjs', 'buyer-linking-client');
    expect(await linesOf(project, example)).toEqual([
      expect.stringMatching(/^already linked usr_/),
      '+989990001006 Sara Ahmadi',
    ]);
  });
});
