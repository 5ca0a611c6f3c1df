/** How the process behaves: its options, its end, and what it leaves behind. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startDatabase } from '#local/database.ts';
import { call, expectProblem } from '#test/scenarios/call.ts';
import { newPhone, sendCode } from '#test/scenarios/people.ts';
import { localTarget } from './local-target.ts';
import {
  newDataFolder,
  PROGRAM,
  type RunningService,
  removeDataFolder,
  spawnService,
  startRunningService,
} from './running-service.ts';

const run = async (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
  const { exited, terminal } = spawnService(args, environment);
  const [code] = await exited;
  return { code, text: terminal() };
};

/** The command lines of all processes that name this folder. */
const processesOf = async (folder: string): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
};

/** The process id of the database that keeps its data in this folder. */
const databaseProcess = async (folder: string): Promise<number> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid,args']);
  const line = stdout.split('\n').find((one) => /\d \S*dynoxide serve/.test(one) && one.includes(folder));
  return Number.parseInt(line ?? '', 10);
};

const untilGone = async (folder: string): Promise<void> => {
  for (let poll = 0; poll < 200 && (await processesOf(folder)).length > 0; poll += 1) await sleep(25);
};

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

describe('options', () => {
  it('explains itself with --help', async () => {
    const { code, text } = await run(['--help']);
    expect(code).toBe(0);
    for (const option of ['--port', '--memory', '--data', 'DYNAMODB_ENDPOINT'])
      expect(text).toContain(option);
  });

  it.each([[['--prot', '1']], [['--port', 'x']], [['--port', '65536']], [['extra']]])(
    'exits 2 with the usage on %j',
    async (args) => {
      const { code, text } = await run(args);
      expect(code).toBe(2);
      expect(text).toContain('Usage: npm start');
    },
  );

  it('exits 1 with one sentence if the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, text } = await run(['--port', String(port), '--data', folder]);
    other.close();
    expect({ code, text }).toEqual({
      code: 1,
      text: `Port ${port} is taken: stop what listens there, or choose another one with --port.\n`,
    });
  });

  it('exits 1 with one sentence if the folder is none', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { code, text } = await run(['--port', '0', '--data', file]);
    expect({ code, text }).toEqual({
      code: 1,
      text: `Nothing can be kept in ${file} (EEXIST): choose another folder with --data.\n`,
    });
  });

  it('exits 1 with one sentence if OTP_ACCESS is wrong', async () => {
    const { code, text } = await run(['--port', '0', '--data', folder], { OTP_ACCESS: 'open' });
    expect(code).toBe(1);
    expect(text).toContain('OTP_ACCESS must be "api-key" or "public".');
    expect(await processesOf(folder)).toEqual([]);
  });
});

describe('while it runs', () => {
  let service: RunningService;

  beforeEach(async () => {
    service = await startRunningService({ folder });
  }, 30_000);
  afterEach(async () => {
    await service.stop('SIGKILL');
    await untilGone(folder);
  });

  it('keeps its folder to itself', async () => {
    const { code, text } = await run(['--port', '0', '--data', folder]);
    expect(code).toBe(1);
    expect(text).toContain(`Another service is using ${folder}`);
    expect((await call(localTarget(service.demo), '/.well-known/jwks.json')).status).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends cleanly at %s: exit code 0, no process, no open port, no file that says it runs',
    async (signal) => {
      expect(await processesOf(folder)).not.toEqual([]);
      expect(await service.stop(signal)).toBe(0);
      expect(await processesOf(folder)).toEqual([]);
      await expect(fetch(service.demo.base_url)).rejects.toThrow();
      expect(existsSync(join(folder, 'demo.json'))).toBe(false);
      expect(existsSync(join(folder, 'table.sqlite-wal'))).toBe(false);
    },
  );

  it('answers internal while its database is stuck, and goes on when that goes on', async () => {
    const database = await databaseProcess(folder);
    const target = localTarget(service.demo);
    const list = () => call(target, '/v1/users', { key: target.keys.free });
    process.kill(database, 'SIGSTOP');
    const refusal = await list();
    process.kill(database, 'SIGCONT');
    expectProblem(refusal, 'internal');
    expect(refusal.headers.get('cache-control')).toBe('no-store');
    expect((await list()).status).toBe(200);
    expect(service.terminal()).toContain('GET /v1/users  500');
  }, 30_000);

  it('ends with one sentence if its database ends by itself', async () => {
    process.kill(await databaseProcess(folder));
    const [code] = await once(service.process, 'exit');
    expect(code).toBe(1);
    expect(service.terminal()).toContain('The embedded database ended by itself');
    expect(await processesOf(folder)).toEqual([]);
  });

  it('answers a request in flight before it ends', async () => {
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
    for (let poll = 0; poll < 200 && !service.terminal().includes('Stopping'); poll += 1) await sleep(25);
    socket.write('{}');
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 422 .*"code":"validation_failed"/s);
    expect(await stopped).toBe(0);
  });

  it('takes its database with it even when it is killed', async () => {
    await service.stop('SIGKILL');
    await untilGone(folder);
    expect(await processesOf(folder)).toEqual([]);
  });
});

describe('under npm', () => {
  it('ends cleanly when the shell that npm runs it in is gone', async () => {
    const shell = spawn(
      'sh',
      ['-c', '"$@"; true', 'sh', process.execPath, PROGRAM, '--port', '0', '--data', folder],
      {
        stdio: 'ignore',
        env: { ...process.env, npm_lifecycle_event: 'start' },
      },
    );
    const readyFile = join(folder, 'demo.json');
    for (let poll = 0; poll < 800 && !existsSync(readyFile); poll += 1) await sleep(25);
    expect(existsSync(readyFile)).toBe(true);
    shell.kill('SIGTERM');
    await untilGone(folder);
    expect(await processesOf(folder)).toEqual([]);
    expect(existsSync(readyFile)).toBe(false);
  }, 30_000);
});

describe('a restart', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'after %s loses nothing: keys, and a code between send and verify',
    async (signal) => {
      const before = await startRunningService({ folder });
      const phone = newPhone();
      const code = await sendCode(localTarget(before.demo), phone);
      await before.stop(signal);
      const after = await startRunningService({ folder });
      expect({ ...after.demo, base_url: '' }).toEqual({ ...before.demo, base_url: '' });
      const verified = await call(localTarget(after.demo), '/v1/auth/otp/verify', {
        key: after.demo.keys.app,
        body: { phone, code },
      });
      expect(verified.status).toBe(200);
      await after.stop();
    },
    30_000,
  );

  it('with --memory forgets everything, and leaves what is kept alone', async () => {
    const kept = await startRunningService({ folder });
    await kept.stop();
    const first = await startRunningService({ folder, args: ['--memory'] });
    await first.stop();
    const second = await startRunningService({ folder, args: ['--memory'] });
    await second.stop();
    expect(second.demo.keys).not.toEqual(first.demo.keys);
    const again = await startRunningService({ folder });
    await again.stop();
    expect(again.demo.keys).toEqual(kept.demo.keys);
  }, 60_000);
});

describe('DYNAMODB_ENDPOINT', () => {
  it('points the service at another DynamoDB, whose data outlives it', async () => {
    const database = await startDatabase();
    const environment = { DYNAMODB_ENDPOINT: database.endpoint };
    const first = await startRunningService({ folder, environment });
    expect(
      await processesOf('table.sqlite').then((all) => all.filter((one) => one.includes(folder))),
    ).toEqual([]);
    await first.stop();
    const second = await startRunningService({ folder, environment });
    await second.stop();
    expect(second.demo.keys).toEqual(first.demo.keys);
    await database.stop();
  }, 30_000);
});

describe('a DYNAMODB_ENDPOINT where nobody answers', () => {
  it('is one sentence and exit code 1', async () => {
    const environment = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
    const { code, text } = await run(['--port', '0', '--data', folder], environment);
    expect(code).toBe(1);
    expect(text).toContain('The DynamoDB at http://127.0.0.1:9 gives no table: ');
    expect(text).not.toContain('    at ');
  }, 30_000);
});

describe('OTP_ACCESS=public', () => {
  it('takes no key for the one-time-code operations, and a verified code registers the buyer', async () => {
    const service = await startRunningService({ folder, environment: { OTP_ACCESS: 'public' } });
    const target = localTarget(service.demo);
    const phone = newPhone();
    expect((await call(target, '/v1/auth/otp/send', { body: { phone } })).status).toBe(202);
    const [sent] = await target.messages(phone);
    const body = { phone, code: sent?.code };
    expect((await call(target, '/v1/auth/otp/verify', { body })).status).toBe(200);
    expect((await call(target, '/v1/users')).status).toBe(401);
    await service.stop();
  }, 30_000);
});
