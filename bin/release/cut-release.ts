import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a version, in the words of Semantic Versioning. */
export const PARTS = ['patch', 'minor', 'major'] as const;

export type Part = (typeof PARTS)[number];

/** A release that was not cut. The message says why and what to do; nothing was changed. */
export class ReleaseRefused extends Error {}

interface ReleaseOptions {
  /** The folder of the checkout. */
  readonly root: string;
  readonly part: Part;
  /** The day of the release: `2026-01-31`. */
  readonly date: string;
}

const BRANCH = 'main';
const FILES = ['package.json', 'package-lock.json', 'CHANGELOG.md'] as const;

/** Returns the version that follows `1.2.3`: a higher part sets the lower ones to 0. */
const nextVersion = (version: string, part: Part): string => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (part === 'major') return `${major + 1}.0.0`;
  return part === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
};

/** Sets the version of a package.json or package-lock.json. Returns the new text. */
const withVersion = (json: string, version: string): string => {
  const content = JSON.parse(json);
  content.version = version;
  const root = content.packages?.[''];
  if (root !== undefined) root.version = version;
  return `${JSON.stringify(content, null, 2)}\n`;
};

const UNRELEASED = '## [Unreleased]\n';

/** Returns the notes of the next release from CHANGELOG.md; undefined if there is no entry under "Unreleased". */
export const unreleasedNotes = (changelog: string): string | undefined => {
  const [, unreleased = ''] = changelog.split(UNRELEASED);
  const [notes = ''] = unreleased.split('\n## [');
  return /^- /m.test(notes) ? notes.trim() : undefined;
};

/** Moves the entries under "Unreleased" to a new release. `date` is `2026-01-31`. */
export const withRelease = (changelog: string, version: string, date: string): string =>
  changelog.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);

/** Runs git in a checkout and returns its output. Throws ReleaseRefused with the error of git. */
const gitIn =
  (root: string) =>
  (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new ReleaseRefused(`git ${args[0]} failed: ${stderr.trim()}`);
    return stdout.trim();
  };

type Git = ReturnType<typeof gitIn>;

const assertReady = (git: Git): void => {
  const branch = git('branch', '--show-current');
  if (branch !== BRANCH) {
    throw new ReleaseRefused(`A release is cut on ${BRANCH}; this is "${branch || 'no branch'}".`);
  }
  if (git('status', '--porcelain') !== '') {
    throw new ReleaseRefused('There are changes that are not committed. Commit or remove them first.');
  }
};

/** Commits and tags the new files. Restores the checkout if git refuses, for example because a hook fails. */
const commitRelease = (git: Git, tag: string, message: string): void => {
  const before = git('rev-parse', 'HEAD');
  try {
    git('commit', '--quiet', '--message', message, '--', ...FILES);
    // By default git removes the headings of the notes from the message of a tag: lines with "#" are comments.
    git('tag', '--annotate', tag, '--cleanup=verbatim', '--message', message);
  } catch (error) {
    git('reset', '--quiet', '--soft', before);
    git('restore', '--staged', '--worktree', '--', ...FILES);
    throw error;
  }
};

/**
 * Raises the version, moves the entries of CHANGELOG.md under it, commits and tags. Returns the tag. Pushes nothing. Throws
 * ReleaseRefused, and changes nothing, if the checkout is not ready for a release.
 */
export const cutRelease = ({ root, part, date }: ReleaseOptions): string => {
  const git = gitIn(root);
  const read = (file: (typeof FILES)[number]): string => readFileSync(join(root, file), 'utf8');
  const write = (file: (typeof FILES)[number], text: string): void => writeFileSync(join(root, file), text);
  assertReady(git);
  const notes = unreleasedNotes(read('CHANGELOG.md'));
  if (notes === undefined) {
    throw new ReleaseRefused(
      'CHANGELOG.md has no entry under "Unreleased". Write what changes for users first.',
    );
  }
  const version = nextVersion(JSON.parse(read('package.json')).version, part);
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new ReleaseRefused(`The tag ${tag} exists already.`);
  const { status } = spawnSync('npm', ['run', 'check'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new ReleaseRefused('`npm run check` fails. Correct what it reports first.');

  write('package.json', withVersion(read('package.json'), version));
  write('package-lock.json', withVersion(read('package-lock.json'), version));
  write('CHANGELOG.md', withRelease(read('CHANGELOG.md'), version, date));
  commitRelease(git, tag, `Release ${version}\n\n${notes}`);
  return tag;
};
