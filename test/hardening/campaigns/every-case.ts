import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Campaign } from './campaign.ts';

const TIME_LIMIT_MS = 600_000;

/** Runs each test file that imports `test/full-run.ts`, with every case and with all its random runs. */
export const everyCase: Campaign = {
  name: 'every case of the tests that npm test shortens',
  async run({ deployment, report, scale, seed }) {
    const check = 'every case of the tests that npm test shortens';
    if (scale < 1) {
      report.tried(`${check} (only without --quick)`, 0);
      return;
    }
    const results = join(deployment.folder, 'every-case.json');
    const args = ['run', '-s', 'jest', '--', '--ci', '--silent', '--randomize', '--seed', String(seed)];
    const files = ['--findRelatedTests', 'test/full-run.ts', '--json', '--outputFile', results];
    // Not synchronous: the fault proxy runs in this process.
    const output = await new Promise<string>((resolve) => {
      const env = { ...process.env, FULL_RUN: '1' };
      const options = { env, timeout: TIME_LIMIT_MS, maxBuffer: 2 ** 26 };
      execFile('npm', [...args, ...files], options, (_error, _stdout, stderr) => resolve(stderr));
    });
    const { success, numPassedTests } = JSON.parse(await readFile(results, 'utf8'));
    report.tried(check, numPassedTests);
    if (!success) report.violated(check, stripVTControlCharacters(output).slice(-4000));
  },
};
