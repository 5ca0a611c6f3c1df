/** The local service as a whole, in this process: how its parts start, what a reset forgets, and what an end leaves behind. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { readKeyLimits } from '#admin/operations/key-limits.ts';
import { connectLocal } from '#local/administration.ts';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { startService } from '#local/service.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { redirectLog } from '#shared/log.ts';
import { KEY_LIMITS, TIMES_IN_SANDBOX } from '#shared/rate-limits/key-limits.ts';
import { newPhone } from '#test/generated-people.ts';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from '#test/service/local-target.ts';
import { newDataFolder, removeDataFolder } from '#test/service/running-service.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { databasePid, isRunning } from './database-process.ts';

type Service = Awaited<ReturnType<typeof startService>>;

/** What runs while a test runs. */
let running: AsyncDisposableStack;

beforeEach(() => {
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());

const freePort = async (): Promise<number> => {
  const server = await listenOnLoopback(0, async () => {});
  await server.close();
  return server.port;
};

/** Starts the service in memory. `onFirstStep` runs while it starts. */
const start = (folder: string, port: number, onFirstStep = (): void => {}): Promise<Service> => {
  let isFirst = true;
  const onProgress = (): void => {
    if (isFirst) onFirstStep();
    isFirst = false;
  };
  return startService({ port, folder, inMemory: true, onProgress, onCompleted: () => {} });
};

describe('the running service', () => {
  let folder: string;
  let service: Service;
  let early: Promise<Response> | undefined;
  let restoreLog = (): void => {};

  beforeAll(async () => {
    restoreLog = redirectLog(() => {});
    folder = await newDataFolder();
    const port = await freePort();
    service = await start(folder, port, () => {
      early = fetch(`http://localhost:${port}/.well-known/jwks.json`);
    });
  });
  afterAll(async () => {
    await service?.stop();
    await removeDataFolder(folder);
    restoreLog();
  });

  it('lets a request wait that comes before the service is ready', async () => {
    expect((await early)?.status).toBe(200);
  });

  it('has the buyer of the examples, so that the documentation can link it as it stands', async () => {
    const { example: body } = openApiDocument.paths['/v1/users'].post.requestBody.content['application/json'];
    const { keys } = service.demo;
    expect((await call(localTarget(service.demo), '/v1/users', { key: keys.free, body })).status).toBe(201);
  });

  it('forgets the wait between two codes at POST /_local/reset', async () => {
    const target = localTarget(service.demo);
    const phone = newPhone();
    const send = async () =>
      (await call(target, '/v1/auth/otp/send', { key: service.demo.keys.app, body: { phone } })).status;
    expect([await send(), await send()]).toEqual([202, 429]);
    await fetch(`${target.baseUrl}/_local/reset`, { method: 'POST' });
    expect(await send()).toBe(202);
  });

  it("is administered by connectLocal, which uses none of the caller's own AWS credentials", async () => {
    const before = { ...process.env };
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'own', AWS_SECRET_ACCESS_KEY: 'own' });
    const connection = await connectLocal(folder);
    const { admin } = connection;
    running.defer(() => admin.table.client.destroy());
    expect(process.env).toMatchObject({ AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
    Object.assign(process.env, before);
    expect(connection).toMatchObject({ aws: undefined, baseUrl: service.demo.base_url, isSandbox: true });
    expect(admin.actor).toBe(`local:${userInfo().username}`);
    const secret = await keySecretStore(admin.table).findSecret(hashApiKey(service.demo.keys.free));
    const limits = await readKeyLimits(admin, secret?.key_id ?? '');
    expect(limits.find(({ name }) => name === 'failed-checks-per-hour')?.limit).toBe(
      KEY_LIMITS['failed-checks-per-hour'].byPlan.free * TIMES_IN_SANDBOX,
    );
  });
});

describe('another service', () => {
  let folder: string;

  beforeEach(async () => {
    const before = { ...process.env };
    // That of the running service.
    delete process.env.DYNAMODB_ENDPOINT;
    running.defer(() => {
      delete process.env.DYNAMODB_ENDPOINT;
      Object.assign(process.env, before);
    });
    running.defer(redirectLog(() => {}));
    folder = await newDataFolder();
    running.defer(() => removeDataFolder(folder));
  });

  it('leaves no demo.json, no database and no open port after stop, and its folder to the next start', async () => {
    const port = await freePort();
    const service = await start(folder, port);
    const database = await databasePid(folder);
    await service.stop();
    expect(existsSync(join(folder, 'demo.json'))).toBe(false);
    expect(existsSync(join(folder, 'service.pid'))).toBe(false);
    expect(isRunning(database)).toBe(false);
    await (await listenOnLoopback(port, async () => {})).close();
  });
});
