import { rm, watch, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from '#test/service/local-target.ts';
import { useService } from '#test/service/use-service.ts';
import { jsonOf, startCommand } from './cli-process.ts';
import { runCommand } from './in-process.ts';

/**
 * An admin's session: commands, and requests over HTTP, against the service of `npm start`. Each test starts with the state that the test
 * before it left.
 */
const service = useService();

/** Returns the result of a command, whose process is not what a test is about. */
const admin = (...args: string[]) => jsonOf(runCommand(['--data', service.folder, '--json', ...args]));

it('creates a seller and issues a key that is valid at once', async () => {
  const { seller_id } = await admin('sellers', 'create', 'Kaveh Books', '--yes');
  const issued = await admin('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
  expect((await call(localTarget(service.demo), '/v1/users', { key: issued.key })).status).toBe(200);
});

/** Resolves when a file of this name appears in the folder. */
const fileAppears = async (path: string): Promise<void> => {
  for await (const { filename } of watch(service.folder)) if (filename === basename(path)) return;
};

it('imports the buyers of three batches in two runs, the first of which is interrupted', async () => {
  const file = join(service.folder, 'phones.txt');
  const phones = Array.from({ length: 2020 }, (_, index) => `09${String(index).padStart(9, '0')}`);
  // A batch has 2,000 lines. The first one is short but for its blank lines, and the second one is not over when the signal comes.
  const blank = 1980;
  const batch = ['nobody', ...phones.slice(0, 19), ...Array<string>(blank).fill('')];
  await writeFile(file, [...batch, ...phones.slice(19), ''].join('\n'));
  const importFile = () => startCommand(['--data', service.folder, 'buyers', 'import', file, '--json']);

  // The first batch is written as soon as the file of rejected lines appears.
  const isStarted = fileAppears(`${file}.rejected.csv`);
  const first = importFile();
  await isStarted;
  first.child.kill('SIGINT');
  expect(await first.ended).toMatchObject({
    exitCode: 130,
    error: expect.stringContaining('Run the command again'),
  });

  const second = await importFile().ended;
  expect(second.exitCode).toBe(1);
  const result = JSON.parse(second.out);
  expect(result).toMatchObject({ lines: 1 + phones.length + blank, rejected: 1, blank });
  expect(result.added + result.already_registered).toBe(phones.length);
  expect(result.already_registered).toBeGreaterThan(0);
  expect(result.added).toBeGreaterThan(0);
  await rm(file);
  expect(await admin('buyers', 'show', phones.at(-1) ?? '')).toMatchObject({
    buyer_id: expect.stringMatching(/^byr_/),
  });
});

it('erases a buyer whose phone is read from stdin', async () => {
  const command = ['--data', service.folder, '--json', 'buyers', 'erase', '-', '--yes'];
  const erased = await startCommand(command, {}, '09000000001\n').ended;
  expect(erased).toMatchObject({ exitCode: 0, error: '' });
  expect(JSON.parse(erased.out)).toEqual({ sellers: 0, users: 0, codes: 0, registrations: 1 });
});

it('changes nothing if stdin ends before the phone', async () => {
  const ended = await startCommand(['--data', service.folder, 'buyers', 'erase', '-', '--yes']).ended;
  expect(ended).toEqual({
    exitCode: 1,
    out: '',
    error: 'error: Stdin has no more lines. Nothing was changed.\n',
  });
});
