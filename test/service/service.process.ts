/** The process of `npm start`: its options, its end, and what it leaves behind. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { databasePid, isRunning } from '#test/local/database-process.ts';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from './local-target.ts';
import {
  newDataFolder,
  type RunningService,
  removeDataFolder,
  runService,
  startRunningService,
  until,
} from './running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

describe('options', () => {
  it('print the usage with --help', async () => {
    const { code, text } = await runService(['--help']);
    expect(code).toBe(0);
    for (const option of ['--port', '--memory', '--data', 'DYNAMODB_ENDPOINT'])
      expect(text).toContain(option);
  });

  it('exit 2 with one sentence if one is wrong', async () => {
    for (const args of [['--prot', '1'], ['--port', 'x'], ['--port', '65536'], ['extra']]) {
      const { code, text } = await runService(args);
      expect([code, text]).toEqual([2, expect.stringMatching(/^[^\n]+\. Try --help\.\n$/)]);
    }
  });

  it('exit 1 with one sentence if the folder is a file', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { code, text } = await runService(['--port', '0', '--data', file]);
    expect({ code, text }).toEqual({
      code: 1,
      text: `Nothing can be kept in ${file} (ENOTDIR): choose another folder with --data.\n`,
    });
  });

  it.each([
    [
      'hash-secret.json',
      'the hash secret is not { "current": "…", "previous": ["…"] }, each at least 32 characters',
    ],
    ['table.sqlite', 'it is not a SQLite database'],
  ])('exit 1 with one sentence if %s is damaged', async (name, reason) => {
    const file = join(folder, name);
    await writeFile(join(folder, 'hash-secret.json'), JSON.stringify({ current: 'a'.repeat(64) }));
    await writeFile(file, '{"keys": ['.repeat(100));
    const { code, text } = await runService(['--port', '0', '--data', folder]);
    expect(code).toBe(1);
    expect(text.trimEnd().split('\n').at(-1)).toBe(
      `${file} is damaged (${reason}): restore it, or choose another folder with --data.`,
    );
  });
});

describe('the running service', () => {
  let service: RunningService;

  beforeEach(async () => {
    service = await startRunningService({ folder });
  });
  afterEach(async () => {
    await service.stop('SIGKILL');
    if (existsSync(join(folder, 'database.pid'))) process.kill(await databasePid(folder), 'SIGKILL');
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'exits 0 after %s, which npm sends a second time, and leaves no process, no open port and no demo.json',
    async (signal) => {
      const database = await databasePid(folder);
      service.process.kill(signal);
      expect(await service.stop(signal)).toBe(0);
      expect(isRunning(database)).toBe(false);
      await expect(fetch(service.demo.base_url)).rejects.toThrow();
      expect(existsSync(join(folder, 'demo.json'))).toBe(false);
      expect(existsSync(join(folder, 'table.sqlite-wal'))).toBe(false);
    },
  );

  it('exits 1 when its database is killed, and the reason is the last line of the terminal', async () => {
    const target = localTarget(service.demo);
    const closed = once(service.process, 'close');
    const requests = Array.from({ length: 20 }, () =>
      call(target, '/v1/users', { key: target.keys.professional }).catch(() => undefined),
    );
    process.kill(await databasePid(folder), 'SIGKILL');
    const [code] = await closed;
    await Promise.all(requests);
    expect(code).toBe(1);
    expect(service.terminal()).toMatch(
      /\nThe embedded database ended: signal SIGKILL\. Start again with npm start\.\n$/,
    );
  });

  it('exits 1 after a second Ctrl-C, also with a request in flight', async () => {
    const socket = connect(Number(new URL(service.demo.base_url).port), '127.0.0.1').on('error', () => {});
    socket.write(
      'POST /v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    );
    await once(socket, 'data');
    const exited = once(service.process, 'exit');
    // Within half a second it counts as the first one.
    await until(() => !service.process.kill('SIGINT') || service.process.exitCode !== null);
    expect(await exited).toEqual([1, null]);
  });

  it('responds to a request in flight before it ends', async () => {
    const socket = connect(Number(new URL(service.demo.base_url).port), '127.0.0.1');
    const head = [
      'POST /v1/users HTTP/1.1',
      'Host: localhost',
      `X-Api-Key: ${service.demo.keys.free}`,
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const [interim] = await once(socket, 'data');
    expect(String(interim)).toMatch(/^HTTP\/1\.1 100 Continue/);
    const stopped = service.stop();
    await until(() => service.terminal().includes('Stopping'));
    socket.write('{}');
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 422 .*"code":"validation_failed"/s);
    expect(await stopped).toBe(0);
  });
});
