import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { programFor } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import { recordingTerminal } from './recording-terminal.ts';

const program = programFor(recordingTerminal().terminal, deployments);

/** The commands without commands of their own, with their full names. */
const leavesOf = (command: Command, path: readonly string[] = []): (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));

const COMMANDS = leavesOf(program);

const longNames = (command: Command): string[] => command.options.map(({ long }) => String(long));

/** The commands of the CLI on a page, as texts: `$ npm run admin -- keys show key_…`, or without the prompt in a runbook. */
const commandsOn = async (page: string): Promise<string[]> => {
  const text = await readFile(new URL(`../../../docs/operators/${page}`, import.meta.url), 'utf8');
  const lines = text.matchAll(/npm run admin -- (?:--stage \S+ )?([^`#|\n]+)/g);
  return [...lines].map(([, line = '']) => line.trim());
};

it.each(['admin.md', 'operations.md', 'alarms.md', 'deploy.md', 'a-seller-reports.md'])(
  'docs/operators/%s names only commands and options that exist',
  async (page) => {
    const shown = (await commandsOn(page)).map((line) => {
      const [, command] = COMMANDS.find(([name]) => `${line} `.startsWith(`${name} `)) ?? [];
      const known = command === undefined ? [] : [...longNames(command), ...longNames(program)];
      const unknown = line.split(' ').filter((word) => word.startsWith('--') && !known.includes(word));
      return { line, isCommand: command !== undefined, unknown };
    });
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter(({ isCommand, unknown }) => !isCommand || unknown.length > 0)).toEqual([]);
  },
);
