import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { programFor } from '#admin/cli/commands/program.ts';
import { STATES } from '#admin/operations/restore/report.ts';
import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import { deployments } from '#bin/deployments.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { itForAll } from '#test/for-all.ts';
import { recordingTerminal } from './recording-terminal.ts';

let page: string;
beforeAll(async () => {
  page = await readFile(new URL('../../../docs/admin.md', import.meta.url), 'utf8');
});

const program = programFor(recordingTerminal().terminal, deployments);

/** The commands without commands of their own, with their full names. */
const leavesOf = (command: Command, path: readonly string[] = []): (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));

const COMMANDS = leavesOf(program);

const longNames = (command: Command): string[] => command.options.map(({ long }) => String(long));

/** The commands of the page's examples, as words. */
const examples = (): string[][] =>
  [...page.matchAll(/^\$ npm run admin -- (.+)$/gm)].map(([, line = '']) => line.split(' '));

describe('docs/admin.md', () => {
  itForAll(COMMANDS)('documents each command with its arguments and its description', (name, command) => {
    const usage = command.registeredArguments.map((argument) =>
      argument.required ? ` <${argument.name()}>` : ` [${argument.name()}]`,
    );
    expect(page).toContain(`| \`${name}${usage.join('')}\` | ${command.description()} |`);
  });

  itForAll(COMMANDS)('documents every option of each command', (_name, command) => {
    expect(longNames(command).filter((option) => !page.includes(option))).toEqual([]);
  });

  it('documents every global option', () => {
    expect(longNames(program).filter((option) => !page.includes(option))).toEqual([]);
  });

  it('shows only commands and options that exist', () => {
    const shown = examples().map((words) => {
      const [, command] = COMMANDS.find(([name]) => `${words.join(' ')} `.startsWith(`${name} `)) ?? [];
      const known = command === undefined ? [] : [...longNames(command), ...longNames(program)];
      return {
        words: words.join(' '),
        isCommand: command !== undefined,
        unknown: words.filter((word) => word.startsWith('--') && !known.includes(word)),
      };
    });
    expect(shown.length).toBeGreaterThan(15);
    expect(shown.filter(({ isCommand, unknown }) => !isCommand || unknown.length > 0)).toEqual([]);
  });

  it('documents every state of a restore', () => {
    const section = page.slice(page.indexOf('\n## Restore\n'), page.indexOf('\n## Hash secret\n'));
    const documented = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, states = '']) =>
      states.match(/\w+/g),
    );
    expect(documented).toEqual(expect.arrayContaining(Object.keys(STATES)));
    expect(documented).toHaveLength(Object.keys(STATES).length);
  });

  it('states the numbers of the code', () => {
    for (const number of [KEY_QUOTA, KEY_QUOTA_WARNING, PLANS.professional.requestsPerMinute]) {
      expect(page).toContain(number.toLocaleString('en'));
    }
    expect(page).toContain(`(${PLANS.free.requestsPerMinute} requests a minute)`);
  });
});
