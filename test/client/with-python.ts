import { spawnSync } from 'node:child_process';

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** `describe`, or `describe.skip` with the reason in the title where there is no python3. */
export const describeWithPython = (title: string, run: () => void): void =>
  hasPython ? describe(title, run) : describe.skip(`${title} (skipped: no python3)`, run);
