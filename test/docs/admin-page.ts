import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import wrapAnsi from 'wrap-ansi';
import { run as runCommand } from '#admin/cli/commands/program.ts';
import { deployments } from '#bin/deployments.ts';
import { recordingTerminal } from '#test/admin/cli/recording-terminal.ts';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from '#test/service/local-target.ts';
import { newDemoPerson } from '#test/simulators/people.ts';
import { answersOf, type ConsoleCommand, consoleCommandsOf, linesNotPrinted } from './console.ts';
import { textOf } from './page.ts';
import type { Reader } from './reader.ts';

/** The page for admins. */
export const ADMIN_PAGE = 'docs/operators/admin.md';

/** The phone of the page's examples. */
const PHONE = '09991234567';

/** The answers that the page shows, or this reader's: the phone where `-` asks for it, else yes. */
const answersTo = (command: ConsoleCommand): readonly (readonly [string, string])[] => {
  const shown = answersOf(command);
  if (shown.length > 0) return shown;
  return command.words.includes('-') ? [['Phone:', PHONE]] : [['[y/N]', 'y']];
};

/** Commands of a stage in AWS: test/admin/cli runs them against simulated AWS services. */
const isForAws = ({ words }: ConsoleCommand): boolean => words.includes('--stage');

type Ids = Readonly<Record<'sel' | 'key' | 'usr', string>>;

/** Puts ids that exist in the place of those that the page shows. */
const withIds = (words: readonly string[], ids: Ids): string[] =>
  words.map((word) => {
    const [, prefix] = /^(sel|key|usr)_\S+$/.exec(word) ?? [];
    return prefix === undefined ? word : ids[prefix as keyof Ids];
  });

/** Links a person for the demo seller and returns the user's id. */
const linkUser = async ({ service }: Reader, phone?: string): Promise<string> => {
  const person = newDemoPerson();
  const reply = await call(localTarget(service.demo), '/v1/users', {
    key: service.demo.keys.professional,
    body: { ...person, phone: phone ?? person.phone },
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.json<{ id: string }>().id;
};

const COLUMNS = 80;

/** Runs a command in this process, with a terminal of 80 columns and a person who answers. */
const onTerminal = async (answers: readonly (readonly [string, string])[], ...words: readonly string[]) => {
  const [...left] = answers;
  const { terminal, written } = recordingTerminal({
    isInteractive: true,
    columns: COLUMNS,
    async ask(question) {
      const [expected = '', answer = ''] = left.shift() ?? [];
      expect(question).toContain(expected);
      terminal.error(`${question}${answer}`);
      return answer;
    },
  });
  const exitCode = await runCommand(words, terminal, deployments);
  return { exitCode, screen: `${written.out}${wrapAnsi(written.error, COLUMNS)}` };
};

/** The files that the page imports. */
const FILES: Readonly<Record<string, string>> = {
  'phones.txt': `${PHONE}\n`,
  'customers.csv': `name,mobile\nSara,${PHONE}\n`,
};

/**
 * Runs the commands of the page in order, each in a terminal of 80 columns, with the ids that the commands before have printed. Returns
 * the commands that fail or do not print what the page shows.
 */
export const followAdminPage = async (reader: Reader): Promise<readonly object[]> => {
  const { demo, folder } = reader.service;
  for (const [file, text] of Object.entries(FILES)) await writeFile(join(reader.home, file), text);
  const run = (words: readonly string[], answers: readonly (readonly [string, string])[] = []) =>
    onTerminal(answers, '--data', folder, ...words);

  const { phone } = newDemoPerson();
  for (const registered of [PHONE, phone]) await run(['buyers', 'add', registered]);
  await linkUser(reader, PHONE);
  let ids: Ids = { sel: demo.seller_id, key: '', usr: await linkUser(reader, phone) };

  const faults: object[] = [];
  for (const command of consoleCommandsOf(textOf(ADMIN_PAGE)).filter((command) => !isForAws(command))) {
    const inUsers = command.words[0] === 'users';
    const words = withIds(command.words, inUsers ? { ...ids, sel: demo.seller_id } : ids);
    const { exitCode, screen } = await run(
      words.map((word) => (word in FILES ? join(reader.home, word) : word)),
      answersTo(command),
    );
    const missing = linesNotPrinted(screen, command);
    if (exitCode !== 0 || missing.length > 0) faults.push({ words, exitCode, missing, screen });
    if (/^(?:sellers create|keys issue)/.test(words.join(' '))) {
      const [sel = ids.sel] = /sel_\w+/.exec(screen) ?? [];
      const [key = ids.key] = /key_\w+/.exec(screen) ?? [];
      ids = { ...ids, sel, key };
    }
    if (words[1] === 'revoke') {
      const issued = await run([
        'keys',
        'issue',
        ids.sel,
        '--plan',
        'professional',
        '--scopes',
        'users:read',
      ]);
      ids = { ...ids, key: /key_\w+/.exec(issued.screen)?.[0] ?? '' };
    }
  }
  return faults;
};
