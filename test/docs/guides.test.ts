/** Runs the examples of the guides as they are written, against the whole local service. */
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

/** `it`, or `it.skip` with the commands that this machine lacks. */
const itWhereItRuns = (file: string, title: string, run: () => Promise<void>): void => {
  const missing = missingCommands(file);
  const [test, reason] = missing.length > 0 ? [it.skip, ` (skipped: no ${missing.join(', ')})`] : [it, ''];
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

  itWhereItRuns(file, 'runs as written and prints what it shows', async () => {
    const steps = await stepsOf(file);
    const printed = await runSteps(steps, service);
    expect(printed).toHaveLength(steps.length);
    const pairs = steps.map((step, index) => compared(step, printed[index] ?? ''));
    expect(pairs.map(([actual]) => actual)).toEqual(pairs.map(([, shown]) => shown));
    expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThan(0);
  });
});
