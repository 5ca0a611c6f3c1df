/** The released documents: one file per minor version of the interface, e.g. openapi/released/1.0.json. oasdiff compares them. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The first run downloads and builds it. */
const OASDIFF = 'github.com/oasdiff/oasdiff@v1.35.0';

/** Where our rule differs from oasdiff's: a new problem code breaks no caller; a header, a default and an operationId stay. */
const LEVELS = fileURLToPath(new URL('./oasdiff-levels.txt', import.meta.url));

/** The document of this code: its file, the folder of the released ones, and whether callers use its minor version. */
export interface Candidate {
  readonly file: string;
  readonly folder: string;
  readonly isInUse: boolean;
}

/** Returns whether this machine can compare documents. */
export const canCompare = (): boolean => spawnSync('go', ['version']).status === 0;

const versionOf = (file: string): readonly string[] =>
  JSON.parse(readFileSync(file, 'utf8')).info.version.split('.');

/** Returns the released document of the document's minor version. */
const releasedFile = ({ file, folder }: Candidate): string =>
  join(folder, `${versionOf(file).slice(0, 2).join('.')}.json`);

/** Returns a message if the document breaks callers of a released one. Throws if oasdiff does not run. */
const problemsOf = (released: string, file: string, remedy: string): readonly string[] => {
  const options = ['--fail-on', 'WARN', '--severity-levels', LEVELS, '--color', 'never'];
  const { status, stdout, stderr, error } = spawnSync(
    'go',
    ['run', OASDIFF, 'breaking', released, file, ...options],
    { encoding: 'utf8' },
  );
  if (status === 0) return [];
  if (!stdout) throw new Error(`oasdiff did not run. It needs Go. ${stderr ?? ''}`, { cause: error });
  return [`The document breaks callers of ${released}. Undo the change, or ${remedy}.\n${stdout}`];
};

/** Returns the released documents whose callers the document must not break: those of its major version and of higher ones. */
const protectedBy = ({ file, folder }: Candidate): readonly string[] =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((released) => Number(versionOf(released)[0]) >= Number(versionOf(file)[0]));

const RAISE = 'raise the major number of info.version';
const REPLACE = 'run `npm run openapi -- --release`, since nobody uses this version yet';

/** Returns a message for each released version whose callers the document breaks without a higher major version. */
export const releaseProblems = (candidate: Candidate, { isRelease = false } = {}): readonly string[] =>
  protectedBy(candidate).flatMap((released) => {
    const isReplaceable = !candidate.isInUse && released === releasedFile(candidate);
    if (isReplaceable && isRelease) return [];
    return problemsOf(released, candidate.file, isReplaceable ? REPLACE : RAISE);
  });

/** Makes the document the released one of its minor version. Returns messages instead if that breaks callers. */
export const release = (candidate: Candidate): readonly string[] => {
  const problems = releaseProblems(candidate, { isRelease: true });
  if (problems.length === 0) copyFileSync(candidate.file, releasedFile(candidate));
  return problems;
};
