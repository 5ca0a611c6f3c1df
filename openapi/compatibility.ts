/** What a document breaks for callers of the last release: the openapi.json of its tag is the promise. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The first run downloads and builds it. */
const OASDIFF = 'github.com/oasdiff/oasdiff@v1.35.0';

/** Where our rule differs from oasdiff's: a new problem code breaks no caller; a header, a default and an operationId stay. */
const LEVELS = fileURLToPath(new URL('./oasdiff-levels.txt', import.meta.url));

/** Returns whether this machine can compare documents. */
export const canCompare = (): boolean => spawnSync('go', ['version']).status === 0;

const git = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

/** Returns the tag of the last release before the present commit: `v1.2.3`. A checkout without history has none. */
export const lastRelease = (root: string): string | undefined =>
  existsSync(join(root, '.git'))
    ? /^v\d+\.\d+\.\d+$/m.exec(git(root, 'tag', '--merged', 'HEAD', '--sort=-version:refname'))?.[0]
    : undefined;

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly 'x-required-scope'?: string }>>>
  >;
}

const majorOf = ({ info }: Document): number => Number(info.version.split('.')[0]);

/** Returns the scope of each operation, which oasdiff does not compare: `get /v1/users: users:read`. */
const scopesOf = ({ paths }: Document): readonly string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => `${method} ${path}: ${operation['x-required-scope'] ?? 'any key'}`,
    ),
  );

/** Returns what oasdiff finds, as text; empty if the document breaks no caller. Throws if oasdiff does not run. */
const changesBetween = (released: string, file: string): string => {
  const options = ['--fail-on', 'WARN', '--severity-levels', LEVELS, '--color', 'never'];
  const { status, stdout, stderr, error } = spawnSync(
    'go',
    ['run', OASDIFF, 'breaking', '-', file, ...options],
    { encoding: 'utf8', input: released },
  );
  if (status === 0) return '';
  if (!stdout) throw new Error(`oasdiff did not run. It needs Go. ${stderr ?? ''}`, { cause: error });
  return stdout;
};

/**
 * Returns a message if `openapi.json` in the folder `root` breaks callers of the release with the tag. A higher major number of its
 * version permits that.
 */
export const breakingChanges = (root: string, tag: string): readonly string[] => {
  const file = join(root, 'openapi.json');
  const released = git(root, 'show', `${tag}:openapi.json`);
  const before: Document = JSON.parse(released);
  const now: Document = JSON.parse(readFileSync(file, 'utf8'));
  if (majorOf(now) > majorOf(before)) return [];
  const scopes = scopesOf(now);
  const changes = [
    changesBetween(released, file),
    ...scopesOf(before)
      .filter((scope) => !scopes.includes(scope))
      .map((scope) => `${tag} has the scope of ${scope}.`),
  ].filter((change) => change !== '');
  if (changes.length === 0) return [];
  return [
    `openapi.json breaks callers of ${tag}. Undo the change, or raise the major number of info.version.\n${changes.join('\n')}`,
  ];
};
