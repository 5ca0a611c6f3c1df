import type { Command } from 'commander';
import stringWidth from 'string-width';
import { programFor } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import { itForAll } from '#test/for-all.ts';
import { runCommand } from './in-process.ts';
import { recordingTerminal } from './recording-terminal.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

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
