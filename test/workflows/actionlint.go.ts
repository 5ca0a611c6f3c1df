/** `npm run test:workflows`: actionlint on the GitHub workflows. Skipped by name where neither actionlint nor Go is installed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The program itself, or Go, which builds it from the Go module proxy. The npm package of this name is four years behind. */
const CANDIDATES = [
  ['actionlint', '-version'],
  ['go', 'version'],
] as const;
const MODULE = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** Go downloads and builds it at the first run. */
const TIMEOUT_MS = 300_000;

const [found] = CANDIDATES.find(([program, argument]) => spawnSync(program, [argument]).status === 0) ?? [];

const actionlint = (args: readonly string[], input?: string) => {
  const [program, ...before] = found === 'go' ? ['go', 'run', MODULE] : ['actionlint'];
  // What shellcheck and pyflakes report depends on the machine.
  const { status, stdout, stderr } = spawnSync(
    program ?? '',
    [...before, '-no-color', '-shellcheck=', '-pyflakes=', ...args],
    { cwd: ROOT, encoding: 'utf8', input },
  );
  // Go names each module that it downloads, at the first run on a machine.
  return { status, output: stdout + stderr.replaceAll(/^go: downloading .*\n/gm, '') };
};

const suite = found === undefined ? describe.skip : describe;

suite(found === undefined ? 'actionlint (skipped: install actionlint or Go)' : 'actionlint', () => {
  test(
    'finds nothing wrong in the workflows',
    () => {
      expect(actionlint([])).toEqual({ status: 0, output: '' });
    },
    TIMEOUT_MS,
  );

  test(
    'finds a value that does not exist',
    () => {
      const workflow =
        'on: push\njobs:\n  job:\n    runs-on: ubuntu-latest\n    if: github.evnt\n    steps: [run: ls]\n';
      const { status, output } = actionlint(['-'], workflow);
      expect(output).toContain('property "evnt" is not defined');
      expect(status).not.toBe(0);
    },
    TIMEOUT_MS,
  );
});
