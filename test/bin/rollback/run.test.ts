import { describe, expect, test } from '@jest/globals';
import { NoRollback, type RollbackOptions, rollback } from '#bin/rollback/run.ts';
import { type SimulatedFunction, startAccount, type Version } from './account-with-aliases.ts';

const DEPLOYED_AT = '2026-11-22T12:00:00.000Z';
const BEFORE = '2026-11-20T08:00:00.000+0000';
const WITH_THE_DEPLOY = '2026-11-22T12:01:30.000+0000';

const functionOf = (description: string, versions: SimulatedFunction['versions']): SimulatedFunction => {
  const deployed = Math.max(...versions.keys());
  return { description, versions, deployed, serving: deployed, revision: 1 };
};

/** A stage whose last deploy changed two of three functions, and added a fourth. */
const newStage = () => ({
  status: 'UPDATE_COMPLETE',
  deployedAt: DEPLOYED_AT,
  functions: {
    links: functionOf(
      'POST /v1/users',
      new Map<number, Version>([
        // Version 5 was removed before: the version before 6 is 4.
        [4, { modified: BEFORE, variables: { PAID_CHECKS_PER_DAY: '1000', IDENTITY_PROVIDERS: 'jibit' } }],
        [6, { modified: WITH_THE_DEPLOY, variables: { IDENTITY_PROVIDERS: 'zohal,jibit' } }],
      ]),
    ),
    reads: functionOf(
      'GET /v1/users',
      new Map([
        [9, { modified: BEFORE }],
        [10, { modified: WITH_THE_DEPLOY }],
      ]),
    ),
    unchanged: functionOf(
      'Authorizes API keys',
      new Map([
        [1, { modified: BEFORE }],
        [2, { modified: BEFORE }],
      ]),
    ),
    added: functionOf('GET /v1/new', new Map([[1, { modified: WITH_THE_DEPLOY }]])),
  },
});

/** Runs the command against a stage, and returns what it printed and requested. */
const run = async (account: ReturnType<typeof newStage>, options: Omit<RollbackOptions, 'stage'> = {}) => {
  const lines: string[] = [];
  const { requests, stop } = await startAccount(account);
  try {
    await rollback({ stage: 'prod', ...options }, (line) => lines.push(line));
  } finally {
    stop();
  }
  return { text: lines.join('\n'), writes: requests.filter((line) => /^(?:PUT|DELETE)/.test(line)) };
};

const servingOf = ({ functions }: ReturnType<typeof newStage>) =>
  Object.fromEntries(Object.entries(functions).map(([name, { serving }]) => [name, serving]));

describe('a rollback', () => {
  test('points the functions that the last deploy changed at the versions before, and no other function', async () => {
    const account = newStage();
    const { text } = await run(account);
    expect(servingOf(account)).toEqual({ links: 4, reads: 9, unchanged: 2, added: 1 });
    expect(text).toContain('Stage prod: back from the deploy of 2026-11-22T12:00:00.000Z');
    expect(text).toContain('  GET /v1/users: version 10 -> 9');
    expect(text).toContain('  POST /v1/users: version 6 -> 4');
  });

  test('prints the settings that it takes back, what it does not take back, and what to do next', async () => {
    const { text } = await run(newStage());
    expect(text).toContain('  IDENTITY_PROVIDERS: zohal,jibit -> jibit');
    expect(text).toContain('  PAID_CHECKS_PER_DAY: not set -> 1000');
    expect(text).toContain('Not taken back: roles, alarms,');
    expect(text).toContain('Next: npm run smoke -- --stage prod.');
    expect(text).toContain('npm run rollback -- --stage prod --forward');
  });

  test('changes nothing when it is repeated', async () => {
    const account = newStage();
    await run(account);
    const { text, writes } = await run(account);
    expect(writes).toEqual([]);
    expect(servingOf(account)).toEqual({ links: 4, reads: 9, unchanged: 2, added: 1 });
    expect(text).toContain('Nothing to do');
  });

  test('does what is left after a run that ended between two functions', async () => {
    const account = newStage();
    account.functions.reads.serving = 9;
    await run(account);
    expect(servingOf(account)).toMatchObject({ links: 4, reads: 9 });
  });

  test('is undone by --forward, which returns to the versions of the stack', async () => {
    const account = newStage();
    await run(account);
    const { text } = await run(account, { forward: true });
    expect(servingOf(account)).toEqual({ links: 6, reads: 10, unchanged: 2, added: 1 });
    expect(text).toContain('  POST /v1/users: version 4 -> 6');
    expect((await run(account, { forward: true })).writes).toEqual([]);
  });

  test('changes nothing with --dry-run, and prints the same moves', async () => {
    const account = newStage();
    const { text, writes } = await run(account, { dryRun: true });
    expect(writes).toEqual([]);
    expect(text).toContain('Nothing is changed');
    expect(text).toContain('  POST /v1/users: version 6 -> 4');
  });

  test('is refused while a deploy is under way, with the command that stops it', async () => {
    const account = { ...newStage(), status: 'UPDATE_IN_PROGRESS' };
    await expect(run(account)).rejects.toThrow(NoRollback);
    await expect(run(account)).rejects.toThrow('aws deploy stop-deployment');
    expect(servingOf(account)).toMatchObject({ links: 6, reads: 10 });
  });

  test('is refused in a stage without aliases, with what to do instead', async () => {
    const account = { ...newStage(), functions: {} as ReturnType<typeof newStage>['functions'] };
    await expect(run(account)).rejects.toThrow(
      'Stage prod has no aliases, since its rollout is "all-at-once".',
    );
  });
});

describe('--remove-old-versions', () => {
  const versions = (count: number) =>
    new Map(Array.from({ length: count }, (_, index) => [index + 1, { modified: BEFORE }]));

  test('removes all but the last five versions of a function, and keeps the one in service', async () => {
    const stage = newStage();
    const reads = functionOf('GET /v1/users', versions(9));
    reads.serving = 2;
    const account = { ...stage, functions: { ...stage.functions, reads } };
    const { text } = await run(account, { removeOldVersions: true });
    expect([...reads.versions.keys()]).toEqual([2, 5, 6, 7, 8, 9]);
    expect([...account.functions.links.versions.keys()]).toEqual([4, 6]);
    expect(text).toContain('  GET /v1/users: 1, 3, 4');
    expect(text).toContain('  POST /v1/users: nothing to remove');
  });
});
