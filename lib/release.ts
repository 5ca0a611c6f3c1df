import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** What a checkout deploys or runs. */
export interface Release {
  /** The version of package.json: `1.2.3`. */
  readonly version: string;
  /** The first 12 digits of the commit, with `-dirty` if files differ from it; `unknown` outside a git repository. */
  readonly commit: string;
}

const commitOf = (folder: string): string => {
  try {
    // No tag matches --exclude=*, so the output is always the commit.
    return execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      // An unpacked archive has no commit, even if it lies in another repository.
      env: { ...process.env, GIT_CEILING_DIRECTORIES: join(folder, '..') },
    }).trim();
  } catch {
    return 'unknown';
  }
};

/** Returns the version and the commit of a checkout: of this one by default. */
export const releaseOf = (folder = ROOT): Release => ({
  version: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version,
  commit: commitOf(folder),
});
