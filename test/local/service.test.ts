/**
 * The local service as a whole, in this process: that its parts fit, what a reset forgets, and what an end leaves behind. Every scenario
 * and every attack against its own process: test/scenarios/local.process.ts, test/security.process.ts.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os, { userInfo } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { readKeyLimits } from '#admin/operations/key-limits.ts';
import { connectLocal } from '#local/administration.ts';
import { listenOnLoopback } from '#local/loopback-server.ts';
import { startService } from '#local/service.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { redirectLog } from '#shared/log.ts';
import { KEY_LIMITS, TIMES_IN_SANDBOX } from '#shared/rate-limits/key-limits.ts';
import { problemsOf, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { newPhone, peopleMade } from '#test/generated-people.ts';
import { buyerLinkScenarios } from '#test/scenarios/buyer-links.ts';
import { registerBuyer, registeredPerson } from '#test/scenarios/buyers.ts';
import { call, expectProblem } from '#test/scenarios/call.ts';
import { eventScenarios } from '#test/scenarios/events.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';
import { attackBy, keyFor, named } from '#test/security/attack.ts';
import { validBody } from '#test/security/valid-request.ts';
import { localTarget } from '#test/service/local-target.ts';
import { foundIn } from '#test/service/privacy.ts';
import { newDataFolder, removeDataFolder, SMALL_SITE } from '#test/service/running-service.ts';
import { buyerLinking } from '../../client/src/index.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { databasePid, isRunning } from './database-process.ts';
import { freePort } from './free-port.ts';

type Service = Awaited<ReturnType<typeof startService>>;

/** What runs while a test runs. */
let running: AsyncDisposableStack;

beforeEach(() => {
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());

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
  const target = () => localTarget(service.demo);

  beforeAll(async () => {
    restoreLog = redirectLog(() => {});
    process.env.SITE_FOLDER = SMALL_SITE;
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
    expect((await call(target(), '/v1/users', { key: keys.free, body })).status).toBe(201);
  });

  describe('through its gateway, its functions and its database', () => {
    let token: string;
    beforeAll(async () => {
      token = await registerBuyer(target(), newPhone());
    });
    const attack = attackBy({ target, token: () => token });
    const asSeller = (path: string, key = service.demo.keys.professional) => call(target(), path, { key });

    itForAll(named(allRoutes))(
      'responds to a valid request of each operation by the rules of that operation',
      async (_name, route: Route) => {
        const reply = await attack(route, { key: keyFor(route, target()) });
        const own: readonly string[] = problemsOf(route).filter((code) => code !== 'internal');
        const succeeds = Object.keys(route.responses).includes(String(reply.status));
        expect(succeeds ? 'a success' : reply.json<ProblemBody>().code).toMatch(
          new RegExp(`^(?:a success|${own.join('|')})$`),
        );
      },
    );

    buyerLinkScenarios({ target });
    eventScenarios({ target });

    it('refuses a missing key, a key of another scope, a forged token, a bad body and another path', async () => {
      const { app, professional } = service.demo.keys;
      expectProblem(await call(target(), '/v1/users'), 'invalid_api_key');
      expectProblem(await asSeller('/v1/users', app), 'insufficient_scope');
      const [find] = allRoutes.filter(({ name }) => name === 'find-links') as [Route];
      const forged = { key: app, authorization: `Bearer ${token.slice(0, -4)}AAAA` };
      expectProblem(await attack(find, forged), 'invalid_access_token');
      const [create] = allRoutes.filter(({ name }) => name === 'create-user') as [Route];
      const body = { ...validBody(create), national_id: '1' };
      expectProblem(await attack(create, { key: professional, body }), 'validation_failed');
      expectProblem(await asSeller('/v1//users'), 'not_found');
    });

    it('links a buyer by the client of this package, shows it to its seller alone, and logs none of its data', async () => {
      const { base_url: baseUrl, keys, other_seller } = service.demo;
      const client = buyerLinking({ baseUrl, apiKey: keys.professional });
      const { user, isNew } = await client.linkBuyer(await registeredPerson(target()));
      expect(isNew).toBe(true);
      expect((await asSeller(`/v1/users/${user.id}`)).json()).toEqual(user);
      expectProblem(await asSeller(`/v1/users/${user.id}`, other_seller.key), 'user_not_found');
      const values = peopleMade.flatMap(({ national_id, phone, display_name }) => [
        national_id,
        phone.slice(3),
        display_name,
      ]);
      const log = await readFile(join(folder, 'service.log'), 'utf8');
      expect(log).toContain('"event":"request_completed"');
      expect(foundIn(log, [...values, token, ...Object.values(keys)])).toEqual([]);
    });
  });

  it('forgets the wait between two codes at POST /_local/reset', async () => {
    const phone = newPhone();
    const send = async () =>
      (await call(target(), '/v1/auth/otp/send', { key: service.demo.keys.app, body: { phone } })).status;
    expect([await send(), await send()]).toEqual([202, 429]);
    await fetch(`${target().baseUrl}/_local/reset`, { method: 'POST' });
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

  it('names its administrator by number in a container whose user has no name', async () => {
    const named = mock.method(os, 'userInfo', () => {
      throw new Error('uv_os_get_passwd returned ENOENT');
    });
    syncBuiltinESMExports();
    const { admin } = await connectLocal(folder);
    named.mock.restore();
    syncBuiltinESMExports();
    admin.table.client.destroy();
    expect(admin.actor).toBe(`local:user ${process.getuid?.()}`);
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
