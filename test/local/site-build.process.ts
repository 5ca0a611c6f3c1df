/** `npm start` in a fresh clone builds the documentation site in the background: here by a stub in place of VitePress. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnService, until } from '#test/service/running-service.ts';
import { isRunning } from './database-process.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** What `npm start` and the hash of the site's sources read. */
const COPIED = ['admin', 'bin', 'docs', 'functions', 'lib', 'local', 'openapi', 'probe', 'shared'];
const FILES = ['CHANGELOG.md', 'openapi.json', 'package.json', 'package-lock.json'];

/** Writes a page and its process id, then hangs, fails or ends. */
const STUB = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  const { SITE_FOLDER, STUB } = process.env;
  mkdirSync(SITE_FOLDER, { recursive: true });
  writeFileSync(SITE_FOLDER + '/index.html', '<p>a page</p>');
  writeFileSync(SITE_FOLDER + '/build.json', '{"packages":[]}');
  writeFileSync('stub.pid', String(process.pid));
  if (STUB === 'hangs') setInterval(() => {}, 1000);
  if (STUB === 'fails') throw new Error('a broken page\\n\\nof several lines');
`;

let clone: string;
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'buyer-linking-clone-'));
  for (const folder of COPIED) await cp(join(REPOSITORY, folder), join(clone, folder), { recursive: true });
  for (const file of FILES) await cp(join(REPOSITORY, file), join(clone, file));
  const packages = (await readdir(join(REPOSITORY, 'node_modules'))).filter((name) => name !== 'vitepress');
  await mkdir(join(clone, 'node_modules/vitepress/bin'), { recursive: true });
  await Promise.all(
    packages.map((name) =>
      symlink(join(REPOSITORY, 'node_modules', name), join(clone, 'node_modules', name)),
    ),
  );
  await writeFile(join(clone, 'node_modules/vitepress/package.json'), '{"type":"module"}');
  await writeFile(join(clone, 'node_modules/vitepress/bin/vitepress.js'), STUB);
});
afterEach(() => rm(join(clone, 'stub.pid'), { force: true }));
afterAll(() => rm(clone, { recursive: true, force: true }));

/** Starts the service of the clone, with a build that ends so. */
const start = async (stub: 'hangs' | 'fails' | 'ends') => {
  const args = ['--memory', '--port', '0', '--data', join(clone, '.local')];
  const { child, exited, terminal } = spawnService(args, { STUB: stub }, join(clone, 'bin/local.ts'));
  const ending = exited.then(([code]) => code);
  await until(() => terminal().includes('Ready: ') || child.exitCode !== null);
  const stop = async () => {
    child.kill('SIGTERM');
    return { code: await ending, text: terminal() };
  };
  return { stop, terminal };
};

const siteFolders = async () => (await readdir(clone)).filter((name) => name.startsWith('.site'));
const stubPid = async () => Number(await readFile(join(clone, 'stub.pid'), 'utf8').catch(() => 0));

const BUILDING = 'Building the documentation site. This takes about half a minute.';
const FAILED = 'The documentation site cannot be built: "npm run site" says why.';

describe('npm start in a fresh clone', () => {
  it('ends the build when it is stopped, and leaves no half site', async () => {
    const service = await start('hangs');
    await until(async () => (await stubPid()) > 0);
    const { code, text } = await service.stop();
    expect(code).toBe(0);
    expect(text.split('\n').filter((line) => line.includes('site'))).toEqual([BUILDING]);
    expect(isRunning(await stubPid())).toBe(false);
    expect(await siteFolders()).toEqual([]);
  });

  it('says in one line that the site cannot be built, and goes on', async () => {
    const service = await start('fails');
    await until(() => service.terminal().includes(FAILED));
    const { code, text } = await service.stop();
    expect(code).toBe(0);
    expect(text.split('\n').filter((line) => /site|broken/.test(line))).toEqual([BUILDING, FAILED]);
    expect(await siteFolders()).toEqual([]);
  });

  it('builds the site once it is ready, and not again at the next start', async () => {
    const first = await start('ends');
    await until(async () => (await siteFolders()).includes('.site'));
    const { text } = await first.stop();
    expect(text.indexOf(BUILDING)).toBeGreaterThan(text.indexOf('Ready: '));
    expect(await siteFolders()).toEqual(['.site']);
    const second = await start('ends');
    expect((await second.stop()).text).not.toContain('Building');
  });
});
