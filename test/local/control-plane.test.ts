import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  GetApiKeyCommand,
  GetApiKeysCommand,
  GetUsageCommand,
  GetUsagePlansCommand,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { LOCAL_PLAN_IDS } from '#local/control-plane/identifiers.ts';
import { openControlPlane } from '#local/control-plane.ts';
import { PLAN_NAMES, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { startControlPlane } from './control-plane-server.ts';

type Running = Awaited<ReturnType<typeof startControlPlane>>;

let running: Running;
beforeEach(async () => {
  running = await startControlPlane();
});
afterEach(() => running.stop());

const VALUE = 'v'.repeat(40);
const newKey = (changes: Partial<ConstructorParameters<typeof CreateApiKeyCommand>[0]> = {}) =>
  running.client.send(new CreateApiKeyCommand({ name: 'key', value: VALUE, enabled: true, ...changes }));

describe('what API Gateway refuses is refused in its own words', () => {
  it.each([
    ['a value of 19 characters', { value: 'v'.repeat(19) }],
    ['a value of 129 characters', { value: 'v'.repeat(129) }],
    ['a value with a hyphen', { value: `${'v'.repeat(30)}-` }],
  ])('%s: BadRequestException', async (_name, changes) => {
    await expect(newKey(changes)).rejects.toMatchObject({ name: 'BadRequestException' });
  });

  it('takes values of 20 and of 128 characters', async () => {
    expect((await newKey({ value: 'v'.repeat(20) })).value).toHaveLength(20);
    expect((await newKey({ value: 'v'.repeat(128) })).value).toHaveLength(128);
  });

  it('a value that another key has: ConflictException', async () => {
    await newKey();
    await expect(newKey({ name: 'other' })).rejects.toMatchObject({
      name: 'ConflictException',
      message: 'API Key already exists',
      $metadata: { httpStatusCode: 409 },
    });
  });

  it('a second plan of the stage: ConflictException', async () => {
    const { id: keyId } = await newKey();
    const join = (usagePlanId: string) =>
      running.client.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
    await join(LOCAL_PLAN_IDS.free);
    await expect(join(LOCAL_PLAN_IDS.professional)).rejects.toMatchObject({ name: 'ConflictException' });
  });

  it('a key, a plan or a stage that is not there: NotFoundException', async () => {
    const { client } = running;
    const { id: keyId } = await newKey();
    await expect(client.send(new GetApiKeyCommand({ apiKey: 'none' }))).rejects.toMatchObject({
      name: 'NotFoundException',
      message: 'Invalid API Key identifier specified',
    });
    await expect(
      client.send(new CreateUsagePlanKeyCommand({ usagePlanId: 'none', keyId, keyType: 'API_KEY' })),
    ).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  it('a patch that it does not know, and days too far apart: BadRequestException', async () => {
    const { id: apiKey } = await newKey();
    const patchOperations = [{ op: 'replace' as const, path: '/value', value: 'x' }];
    await expect(
      running.client.send(new UpdateApiKeyCommand({ apiKey, patchOperations })),
    ).rejects.toMatchObject({
      name: 'BadRequestException',
    });
    const usagePlanId = LOCAL_PLAN_IDS.free;
    await expect(
      running.client.send(
        new GetUsageCommand({ usagePlanId, startDate: '2026-01-01', endDate: '2026-11-01' }),
      ),
    ).rejects.toMatchObject({ name: 'BadRequestException' });
  });
});

it('answers a call without a signature with 403, and serves no web page’s request', async () => {
  const reply = await fetch(`${running.url}/apikeys`);
  expect([reply.status, reply.headers.get('x-amzn-errortype')]).toEqual([
    403,
    'MissingAuthenticationTokenException',
  ]);
  const preflight = await fetch(`${running.url}/apikeys`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://example.com' },
  });
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
});

it('shows a value only to who asks for it', async () => {
  const { id: apiKey } = await newKey();
  const { client } = running;
  expect((await client.send(new GetApiKeysCommand({}))).items?.[0]?.value).toBeUndefined();
  expect((await client.send(new GetApiKeyCommand({ apiKey }))).value).toBeUndefined();
  expect((await client.send(new GetApiKeyCommand({ apiKey, includeValue: true }))).value).toBe(VALUE);
});

it('gives long lists a page at a time', async () => {
  const { client, usagePlans } = running;
  const ids: (string | undefined)[] = [];
  for (let count = 0; count < 7; count += 1) {
    const { id = '' } = await newKey({ value: `${VALUE}${count}` });
    await usagePlans.attach(id, 'free');
    ids.push(id);
  }
  const found: (string | undefined)[] = [];
  for await (const page of paginateGetApiKeys({ client, pageSize: 3 }, {})) {
    expect(page.items?.length).toBeLessThanOrEqual(3);
    found.push(...(page.items ?? []).map(({ id }) => id));
  }
  expect(found).toEqual(ids);
  const members: (string | undefined)[] = [];
  for await (const page of paginateGetUsagePlanKeys(
    { client, pageSize: 2 },
    { usagePlanId: LOCAL_PLAN_IDS.free },
  )) {
    members.push(...(page.items ?? []).map(({ id }) => id));
  }
  expect(members).toEqual(ids);
});

it('has the usage plans of shared/rate-limits/plans.ts', async () => {
  const { items } = await running.client.send(new GetUsagePlansCommand({}));
  expect(items?.map(({ name, throttle }) => [name, throttle])).toEqual(
    PLAN_NAMES.map((name) => [name, usagePlanThrottle(name)]),
  );
});

describe('the plan of a usage id', () => {
  it('is that of an enabled key that is in a plan, and of no other', async () => {
    const { plane, usagePlans } = running;
    expect(plane.planOf(VALUE)).toBeUndefined();
    const { id } = await usagePlans.createKey({ name: 'key', value: VALUE, enabled: true });
    expect(plane.planOf(VALUE)).toBeUndefined();
    await usagePlans.attach(id, 'free');
    expect(plane.planOf(VALUE)).toEqual({
      usagePlanId: LOCAL_PLAN_IDS.free,
      plan: 'free',
      ...usagePlanThrottle('free'),
    });
    await usagePlans.setEnabled(id, false);
    expect(plane.planOf(VALUE)).toBeUndefined();
    await usagePlans.setEnabled(id, true);
    await usagePlans.detach(id, 'free');
    await usagePlans.attach(id, 'professional');
    expect(plane.planOf(VALUE)?.plan).toBe('professional');
    await usagePlans.deleteKey(id);
    expect(plane.planOf(VALUE)).toBeUndefined();
  });
});

describe('the file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'control-plane-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('holds each change before it is answered, and is read at the next start', async () => {
    const file = join(folder, 'control-plane.json');
    const first = await startControlPlane({ file, now: () => Date.parse('2026-11-21T10:00:00Z') });
    const { id } = await first.usagePlans.createKey({ name: 'key', value: VALUE, enabled: true });
    await first.usagePlans.attach(id, 'free');
    expect(JSON.parse(await readFile(file, 'utf8')).members).toEqual({ [LOCAL_PLAN_IDS.free]: [id] });
    first.plane.recordUse(VALUE);
    await first.stop();

    const second = await startControlPlane({ file });
    expect(second.plane.planOf(VALUE)?.plan).toBe('free');
    expect(await second.usagePlans.usage(id, 'free', '2026-11-21', '2026-11-21')).toEqual([
      { day: '2026-11-21', requests: 1 },
    ]);
    await second.stop();
    expect(await readdir(folder)).toEqual(['control-plane.json']);
  });

  it('survives many changes at once', async () => {
    const file = join(folder, 'control-plane.json');
    const { usagePlans, stop } = await startControlPlane({ file });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        usagePlans.createKey({ name: `key${index}`, value: `${VALUE}${index}`, enabled: true }),
      ),
    );
    expect(JSON.parse(await readFile(file, 'utf8')).keys).toHaveLength(20);
    await stop();
  });

  it('that is damaged is named, and not thrown away', async () => {
    const file = join(folder, 'control-plane.json');
    await writeFile(file, '{"keys": [');
    await expect(openControlPlane({ file })).rejects.toThrow(file);
    expect(await readFile(file, 'utf8')).toBe('{"keys": [');
  });
});

it('throttles CreateApiKey as API Gateway does, and the adapter waits and tries again', async () => {
  const throttled = await startControlPlane({ createKeysPerSecond: 5 });
  const keys = Array.from({ length: 7 }, (_, index) => ({
    name: `key${index}`,
    value: `${VALUE}${index}`,
    enabled: true,
  }));
  const created = await Promise.all(keys.map((key) => throttled.usagePlans.createKey(key)));
  expect(new Set(created.map(({ id }) => id)).size).toBe(7);
  await throttled.stop();
});
