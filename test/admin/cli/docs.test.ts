import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { programFor } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import { KEY_LIMIT_NAMES } from '#shared/rate-limits/key-limits.ts';
import { recordingTerminal } from './recording-terminal.ts';

const program = programFor(recordingTerminal().terminal, deployments);

/** The commands without commands of their own, with their full names. */
const leavesOf = (command: Command, path: readonly string[] = []): (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));

const COMMANDS = leavesOf(program);

const longNames = (command: Command): string[] => command.options.map(({ long }) => String(long));

const FOLDER = new URL('../../../docs/operators/', import.meta.url);

const GROUPS = program.commands.map((command) => command.name()).join('|');

/** The commands of the CLI on a page, as texts: `$ npm run admin -- keys show key_…`, without the prompt in a runbook, and `keys show` in a sentence. */
const COMMAND = new RegExp(`(?:npm run admin -- (?:--stage \\S+ )?|\`(?=(?:${GROUPS}) ))([^\`#|\n]+)`, 'g');

const commandsOn = async (page: string): Promise<string[]> => {
  const text = await readFile(new URL(page, FOLDER), 'utf8');
  return [...text.matchAll(COMMAND)].map(([, line = '']) => line.trim());
};

it.each(readdirSync(FOLDER))(
  'docs/operators/%s names only commands, options and limits that exist',
  async (page) => {
    const shown = (await commandsOn(page)).map((line) => {
      const [, command] = COMMANDS.find(([name]) => `${line} `.startsWith(`${name} `)) ?? [];
      const known = command === undefined ? [] : [...longNames(command), ...longNames(program)];
      const unknown = line.split(' ').filter((word) => word.startsWith('--') && !known.includes(word));
      const limits = [...line.matchAll(/--set ([\w-]+)=/g)].map(([, name]) => String(name));
      const others = limits.filter((name) => !KEY_LIMIT_NAMES.some((each) => each === name));
      return { line, isCommand: command !== undefined, unknown: [...unknown, ...others] };
    });
    expect(shown.filter(({ isCommand, unknown }) => !isCommand || unknown.length > 0)).toEqual([]);
  },
);

it('the pages of docs/operators name more than a hundred commands', async () => {
  const found = await Promise.all(readdirSync(FOLDER).map(commandsOn));
  expect(found.flat().length).toBeGreaterThan(100);
});
