import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startDatabase } from '#local/database.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { newPhone } from '#test/generated-people.ts';
import { sendCode } from '#test/scenarios/buyers.ts';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from './local-target.ts';
import {
  newDataFolder,
  type RunningService,
  removeDataFolder,
  runService,
  startRunningService,
} from './running-service.ts';

let folder: string;

beforeEach(async () => {
  folder = await newDataFolder();
});
afterEach(() => removeDataFolder(folder));

describe('a restart', () => {
  /** Each test stops the service that the test before it left, and leaves one. */
  let before: RunningService;
  beforeAll(async () => {
    before = await startRunningService();
  });
  afterAll(async () => {
    await before.stop();
    await removeDataFolder(before.folder);
  });

  const restart = () => startRunningService({ folder: before.folder });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'after %s keeps the keys, and a code between send and verify',
    async (signal) => {
      const phone = newPhone();
      const code = await sendCode(localTarget(before.demo), phone);
      await before.stop(signal);
      const after = await restart();
      const addresses = { base_url: '', dynamodb_endpoint: '' };
      expect({ ...after.demo, ...addresses }).toEqual({ ...before.demo, ...addresses });
      before = after;
      const verified = await call(localTarget(after.demo), '/v1/auth/otp/verify', {
        key: after.demo.keys.app,
        body: { phone, code },
      });
      expect(verified.status).toBe(200);
    },
  );

  it('with --memory keeps nothing and leaves the data folder unchanged', async () => {
    const { keys } = before.demo;
    await before.stop();
    /** When each file was written last. */
    const kept = () =>
      readdirSync(before.folder)
        .filter((name) => name !== 'service.log')
        .map((name) => [name, statSync(join(before.folder, name)).mtimeMs]);
    const files = kept();
    const inMemory = await startRunningService({ folder: before.folder, args: ['--memory'] });
    await inMemory.stop();
    expect(inMemory.demo.keys).not.toEqual(keys);
    expect(kept()).toEqual(files);
    before = await restart();
    expect(before.demo.keys).toEqual(keys);
  });
});

describe('DYNAMODB_ENDPOINT', () => {
  it('connects the service to another DynamoDB, whose data outlives it', async () => {
    const database = await startDatabase();
    const environment = { DYNAMODB_ENDPOINT: database.endpoint };
    const first = await startRunningService({ folder, environment });
    expect(existsSync(join(folder, 'database.pid'))).toBe(false);
    await first.stop();
    const second = await startRunningService({ folder, environment });
    await second.stop();
    expect(second.demo.keys).toEqual(first.demo.keys);
    await database.stop();
  });
});

describe('a DYNAMODB_ENDPOINT where nothing listens', () => {
  it('ends the start with one sentence and exit code 1', async () => {
    const environment = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
    const { code, text } = await runService(['--port', '0', '--data', folder], environment);
    expect(code).toBe(1);
    expect(text).toContain('The DynamoDB at http://127.0.0.1:9 gives no table: ');
    expect(text).not.toContain('    at ');
  });
});

describe('OTP_ACCESS=public', () => {
  it('requires no key for the one-time-code operations, and a verified code registers the buyer', async () => {
    const service = await startRunningService({ folder, environment: { OTP_ACCESS: 'public' } });
    const target = localTarget(service.demo);
    const phone = newPhone();
    expect((await call(target, '/v1/auth/otp/send', { body: { phone } })).status).toBe(202);
    const body = { phone, code: sandboxCode(phone) };
    expect((await call(target, '/v1/auth/otp/verify', { body })).status).toBe(200);
    expect((await call(target, '/v1/users')).status).toBe(401);
    await service.stop();
  });
});
