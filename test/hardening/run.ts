/**
 * `npm run test:hardening`: campaigns of attacks and faults against the running service. Prints a table of attack or fault, tries and
 * violations. Exits 1 on any violation. `--seed N` repeats a run, `--quick` runs the cut of CI, `--only NAME` runs one campaign,
 * `--outputFile FILE` writes the counts in the form of a Jest report.
 */
import { writeFile } from 'node:fs/promises';
import '#test/runner/compile-cache.ts';
import { commandLine } from '#bin/command-line.ts';
import { campaigns } from './campaigns/all.ts';
import { startDeployment } from './deployment.ts';
import { seededRandom } from './random.ts';
import { newReport } from './report.ts';
import { nothingUsed } from './used.ts';

const QUICK_SCALE = 0.05;

const USAGE = `Usage: npm run test:hardening -- [options]

Attacks and faults against a service that it starts on this machine. Exits 1 on
any violation.

Options:
  --quick              a twentieth of the tries
  --seed <number>      repeats the run with this seed
  --only <campaign>    one campaign
  --outputFile <file>  also writes the counts as JSON`;

const { values } = commandLine(USAGE, {
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    outputFile: { type: 'string' },
  },
});
const seed = Number(values.seed);
const scale = values.quick ? QUICK_SCALE : 1;
const used = nothingUsed();
const { report, checkOperations, violations, counts, table, details } = newReport();

console.log(
  `Hardening with seed ${seed}${values.quick ? ', quick' : ''}. Repeat with: npm run test:hardening -- --seed ${seed}`,
);
// The run goes on: what a campaign, or a promise that nobody awaits, throws is a violation like another.
const COMPLETED = 'every campaign runs to its end';
process.on('unhandledRejection', (error) =>
  report.violated(COMPLETED, `a rejection that nobody handles: ${error}`),
);
const deployment = await startDeployment();
try {
  for (const [index, campaign] of campaigns.entries()) {
    if (values.only !== undefined && values.only !== campaign.name) continue;
    const startedAt = Date.now();
    const random = seededRandom(seed).fork(index);
    const failure = await campaign.run({ deployment, seed, random, report, used, scale }).catch(String);
    report.expect(COMPLETED, failure === undefined, () => `${campaign.name}: ${failure}`);
    console.log(`${campaign.name}: ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }
} finally {
  await deployment.stop();
}
console.log(`\n${checkOperations()}\n\n${table()}\n`);
if (violations() > 0) console.log(`${details()}\n\nSeed ${seed} reproduces this.`);
if (values.outputFile !== undefined) await writeFile(values.outputFile, JSON.stringify(counts()));
process.exitCode = violations() === 0 ? 0 : 1;
