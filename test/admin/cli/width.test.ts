import type { Command } from 'commander';
import stringWidth from 'string-width';
import { programFor } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import { itForAll } from '#test/for-all.ts';
import { runCommand } from './in-process.ts';
import { recordingTerminal } from './recording-terminal.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeEach(async () => {
  shell = await startTestShell();
});
afterEach(() => shell.stop());

const WIDTH = 80;
/** A narrow terminal. */
const NARROW = 50;

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => stringWidth(line)));

/** The full names of all commands, '' for the program. */
const namesOf = (command: Command, path = ''): string[] => [
  path,
  ...command.commands.flatMap((child) => namesOf(child, `${path} ${child.name()}`.trim())),
];

describe('on a terminal of 80 columns', () => {
  itForAll(namesOf(programFor(recordingTerminal().terminal, deployments)))(
    'the help of each command fits',
    async (name) => {
      const { exitCode, out } = await runCommand([...name.split(' ').filter(Boolean), '--help']);
      expect(exitCode).toBe(0);
      expect(widest(out)).toBeLessThanOrEqual(WIDTH);
    },
  );

  it('the help of a command says where the options of every command are', async () => {
    const { out } = await runCommand(['keys', 'list', '--help']);
    expect(out).toContain('--stage and --json: buyer-linking --help');
  });

  it('the keys of a seller are a table with one line for each key, which --wide shows with all columns, and those that expire say when', async () => {
    const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes');
    const issue = ['keys', 'issue', seller_id, '--plan', 'professional', '--scopes', 'users:read', '--name'];
    for (const name of ['demo professional', 'server']) {
      await shell.json(...issue, name, '--expires', '2099-01-31');
    }
    const { out } = await shell.cliWithPerson(() => '', 'keys', 'list', seller_id);
    await shell.json('sellers', 'create', 'A second seller');
    const ofAll = (await shell.cliWithPerson(() => '', 'keys', 'list')).out;
    const wide = (await shell.cliWithPerson(() => '', 'keys', 'list', seller_id, '--wide')).out;
    const expiring = (await shell.cliOfWidth(WIDTH, 'keys', 'list', '--expiring', '2099-02-01')).out;
    const table = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    const key = expect.stringMatching(/^key_\w{22}$/);
    expect(table(out)).toEqual([
      ['key', 'name', 'status'],
      [key, 'demo professional', 'active'],
      [key, 'server', 'active'],
    ]);
    expect(table(ofAll)[1]).toEqual([key, 'demo professional', 'Kaveh Books', 'active']);
    expect(table(expiring)).toEqual([
      ['key', 'name', 'seller name', 'expires (UTC)'],
      [key, 'demo professional', 'Kaveh Books', '2099-01-31 00:00'],
      [key, 'server', 'Kaveh Books', '2099-01-31 00:00'],
    ]);
    expect(table(wide)).toEqual([
      [
        ...['key', 'name', 'ends in', 'status', 'plan', 'last used on', 'expires (UTC)', 'scopes'],
        'created (UTC)',
      ],
      [key, 'demo professional', ...Array(7).fill(expect.any(String))],
      [key, 'server', ...Array(7).fill(expect.any(String))],
    ]);
    for (const text of [out, ofAll, expiring]) expect(widest(text)).toBeLessThanOrEqual(WIDTH);
  });
});

it('the results of the commands fit a terminal of 80 columns, and one of 50', async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books, the Shop of Tehran and Isfahan');
  const issue = ['keys', 'issue', seller_id, '--plan', 'professional', '--scopes', 'users:read'];
  const { key_id } = await shell.json(...issue);
  await shell.countRequest(key_id);
  for (const command of [
    ['sellers', 'list'],
    ['sellers', 'show', seller_id],
    ['keys', 'show', key_id],
    ['keys', 'limits', key_id],
    ['audit', seller_id],
    ['usage', key_id],
    ['usage'],
    ['info'],
  ]) {
    for (const columns of [WIDTH, NARROW]) {
      const { exitCode, out } = await shell.cliOfWidth(columns, ...command);
      expect(exitCode).toBe(0);
      expect(widest(out)).toBeLessThanOrEqual(columns);
    }
  }
});
