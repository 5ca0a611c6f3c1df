import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILD_FILE, MEDIA_TYPES, type SiteBuild } from '#shared/docs/site.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The built site of this clone. */
export const SITE_FOLDER = join(ROOT, '.site');

/** Everything that the site is built from: a test compares it with the imports. */
const SOURCES = [
  'docs/sellers/**/*',
  'docs/.vitepress/{*,theme/*}',
  'lib/site.ts',
  'shared/{clock,docs/site}.ts',
  'client/{README.md,package.json,tsconfig*.json,src/**/*.ts,python/*.py}',
  '{,docs/}tsconfig.json',
  'CHANGELOG.md',
  'openapi.json',
  'package-lock.json',
];

/** Returns the files that the site is built from, as paths in the repository. */
export const sourceFiles = (): readonly string[] =>
  globSync(SOURCES, { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .sort();

const hashOfSources = (): string => {
  const hash = createHash('sha256');
  for (const file of sourceFiles())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
};

const sourcesOf = (folder: string): string | undefined => {
  const file = join(folder, BUILD_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SiteBuild).sources : undefined;
};

/** Returns the inline scripts of pages as sources of a Content-Security-Policy. */
const inlineScripts = (pages: readonly string[]): readonly string[] => {
  const scripts = pages.flatMap((page) => [
    ...page.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g),
  ]);
  const hashes = scripts.map(([, code = '']) => createHash('sha256').update(code).digest('base64'));
  return [...new Set(hashes)].sort().map((hash) => `'sha256-${hash}'`);
};

/** Builds the site in a folder. Throws if it has a file that `get-docs` does not serve. */
export const buildSite = async (folder: string, sources: string, signal?: AbortSignal): Promise<void> => {
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
  const env = { ...process.env, SITE_FOLDER: folder };
  const options = { cwd: ROOT, env, signal };
  const building = promisify(execFile)(process.execPath, [vitepress, 'build', 'docs'], options);
  await building.catch(async ({ stdout, stderr }) => {
    const { child } = building;
    // When the signal aborts, the process ends after its promise. Until then it can write.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      await once(child, 'exit');
    throw new Error(`The documentation site cannot be built:\n${stdout}${stderr}`);
  });
  const files = globSync('**/*.*', { cwd: folder });
  const others = files.filter((file) => !(extname(file) in MEDIA_TYPES));
  if (others.length > 0) throw new Error(`The documentation site serves no such files: ${others.join(', ')}`);
  const pages = files.filter((file) => file.endsWith('.html'));
  const scripts = inlineScripts(pages.map((page) => readFileSync(join(folder, page), 'utf8')));
  const { packages } = JSON.parse(readFileSync(join(folder, BUILD_FILE), 'utf8')) as Pick<
    SiteBuild,
    'packages'
  >;
  await writeFile(
    join(folder, BUILD_FILE),
    JSON.stringify({ sources, scripts, packages } satisfies SiteBuild),
  );
};

/** Returns the folder of the built site. Builds it first if its sources changed, and says so in one line. `signal` ends the build. */
export const builtSite = async (say: (line: string) => void, signal?: AbortSignal): Promise<string> => {
  signal?.throwIfAborted();
  const sources = hashOfSources();
  const before = sourcesOf(SITE_FOLDER);
  if (before === sources) return SITE_FOLDER;
  const why = before === undefined ? '' : ', since its sources changed';
  say(`Building the documentation site${why}. This takes about half a minute.`);
  // Two processes may build at the same time: each one moves a whole site into place, but under none that serves it already.
  const draft = `${SITE_FOLDER}.${process.pid}`;
  try {
    await buildSite(draft, sources, signal);
    if (sourcesOf(SITE_FOLDER) === sources) return SITE_FOLDER;
    await rm(SITE_FOLDER, { recursive: true, force: true });
    await rename(draft, SITE_FOLDER).catch((error: unknown) => {
      // The other process was faster.
      if (sourcesOf(SITE_FOLDER) !== sources) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return SITE_FOLDER;
};

/** Copies the built site beside the code of the function that serves it. */
export const addSite = (site: string, codeFolder: string): void =>
  cpSync(site, join(codeFolder, 'site'), { recursive: true });
