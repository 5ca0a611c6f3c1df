/** The guides are run as they are written, against the whole local service. */
import { readdirSync, readFileSync } from 'node:fs';
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { compared, missingCommands, runSteps, stepsOf } from './guide.ts';

const GUIDES = [
  'README.md',
  'docs/quick-start.md',
  'docs/errors.md',
  'docs/limits.md',
  'docs/access-tokens.md',
  'docs/linking.md',
  'docs/versioning.md',
];

const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** `it`, or `it.skip` that says what this machine lacks. */
const itWhereItRuns = (file: string, title: string, run: () => Promise<void>): void => {
  const missing = missingCommands(file);
  const [test, reason] = missing.length > 0 ? [it.skip, ` (not here: no ${missing.join(', ')})`] : [it, ''];
  test(`${title}${reason}`, run, 60_000);
};

describe.each(GUIDES)('%s', (file) => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'] });
  }, 30_000);

  afterAll(async () => {
    await service?.stop();
    await removeDataFolder(service?.folder);
  }, 30_000);

  itWhereItRuns(file, 'runs as it is written and prints what it shows', async () => {
    const steps = await stepsOf(file);
    const printed = await runSteps(steps, service);
    expect(printed).toHaveLength(steps.length);
    const pairs = steps.map((step, index) => compared(step, printed[index] ?? ''));
    expect(pairs.map(([actual]) => actual)).toEqual(pairs.map(([, shown]) => shown));
    expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThan(0);
  });

  it('links only to files that are there', () => {
    const targets = [...textOf(file).matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => String(target));
    const broken = targets.filter((target) => {
      const path = new URL(target, new URL(`../../${file}`, import.meta.url));
      return !readdirSync(new URL('.', path)).includes(path.pathname.split('/').at(-1) ?? '');
    });
    expect(broken).toEqual([]);
  });
});

describe('what the guides repeat of the tables', () => {
  it('is every problem code with its status, and no other', () => {
    const rows = [...textOf('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(
      ([, code, status]) => [code, Number(status)],
    );
    const codes = Object.keys(PROBLEMS) as ProblemCode[];
    expect(rows).toEqual(codes.map((code) => [code, PROBLEMS[code].status]));
  });

  it('is the numbers of every plan', () => {
    const limits = textOf('docs/limits.md');
    const rows = PLAN_NAMES.map((name) => {
      const { requestsPerMinute, failedIdentityChecksPerHour, smsSendsPerHour } = PLANS[name];
      return `| ${name} | ${requestsPerMinute} | ${failedIdentityChecksPerHour} | ${smsSendsPerHour} |`;
    });
    expect(rows.filter((row) => !limits.includes(row))).toEqual([]);
  });
});
