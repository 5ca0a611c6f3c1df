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
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { PLAN_IDS } from './identifiers.ts';
import { startApiGateway } from './start.ts';

type Running = Awaited<ReturnType<typeof startApiGateway>>;

let running: Running;
beforeEach(async () => {
  running = await startApiGateway();
});
afterEach(() => running.stop());

const VALUE = 'v'.repeat(40);
const newKey = (changes: Partial<ConstructorParameters<typeof CreateApiKeyCommand>[0]> = {}) =>
  running.client.send(new CreateApiKeyCommand({ name: 'key', value: VALUE, enabled: true, ...changes }));

describe('an error response', () => {
  it.each([
    ['a value of 19 characters', { value: 'v'.repeat(19) }],
    ['a value of 129 characters', { value: 'v'.repeat(129) }],
    ['a value with a hyphen', { value: `${'v'.repeat(30)}-` }],
  ])('is BadRequestException for %s', async (_name, changes) => {
    await expect(newKey(changes)).rejects.toMatchObject({ name: 'BadRequestException' });
  });

  it('is not sent for values of 20 and of 128 characters', async () => {
    expect((await newKey({ value: 'v'.repeat(20) })).value).toHaveLength(20);
    expect((await newKey({ value: 'v'.repeat(128) })).value).toHaveLength(128);
  });

  it('is ConflictException for a value that another key has', async () => {
    await newKey();
    await expect(newKey({ name: 'other' })).rejects.toMatchObject({
      name: 'ConflictException',
      message: 'API Key already exists',
      $metadata: { httpStatusCode: 409 },
    });
  });

  it('is ConflictException for a second plan of the stage', async () => {
    const { id: keyId } = await newKey();
    const join = (usagePlanId: string) =>
      running.client.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
    await join(PLAN_IDS.free);
    await expect(join(PLAN_IDS.professional)).rejects.toMatchObject({ name: 'ConflictException' });
  });

  it('is NotFoundException for an unknown key or plan', async () => {
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

  it('is BadRequestException for an unknown patch and for a range of more than 90 days', async () => {
    const { id: apiKey } = await newKey();
    const patchOperations = [{ op: 'replace' as const, path: '/value', value: 'x' }];
    await expect(
      running.client.send(new UpdateApiKeyCommand({ apiKey, patchOperations })),
    ).rejects.toMatchObject({
      name: 'BadRequestException',
    });
    const usagePlanId = PLAN_IDS.free;
    await expect(
      running.client.send(
        new GetUsageCommand({ usagePlanId, startDate: '2026-01-01', endDate: '2026-11-01' }),
      ),
    ).rejects.toMatchObject({ name: 'BadRequestException' });
  });
});

describe('the simulated API Gateway', () => {
  it('refuses a call without a signature with 403', async () => {
    const reply = await fetch(`${running.url}/apikeys`);
    expect([reply.status, reply.headers.get('x-amzn-errortype')]).toEqual([
      403,
      'MissingAuthenticationTokenException',
    ]);
  });

  it('returns a value only when includeValue is set', async () => {
    const { id: apiKey } = await newKey();
    const { client } = running;
    expect((await client.send(new GetApiKeysCommand({}))).items?.[0]?.value).toBeUndefined();
    expect((await client.send(new GetApiKeyCommand({ apiKey }))).value).toBeUndefined();
    expect((await client.send(new GetApiKeyCommand({ apiKey, includeValue: true }))).value).toBe(VALUE);
  });

  it('returns long lists in pages', async () => {
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
      { usagePlanId: PLAN_IDS.free },
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

  it('throttles CreateApiKey as API Gateway does, and the adapter retries', async () => {
    const throttled = await startApiGateway({ createKeysPerSecond: 5 });
    const keys = Array.from({ length: 7 }, (_, index) => ({
      name: `key${index}`,
      value: `${VALUE}${index}`,
      enabled: true,
    }));
    const created = await Promise.all(keys.map((key) => throttled.usagePlans.createKey(key)));
    expect(new Set(created.map(({ id }) => id)).size).toBe(7);
    await throttled.stop();
  });

  it('makes the adapter refuse a key with key_quota_reached when the account is full', async () => {
    const { keys } = running.simulator.state;
    for (let index = 0; index < KEY_QUOTA; index += 1) {
      const id = `other${index}`;
      keys.set(id, { id, value: id, name: 'other', enabled: true, createdDate: 0, lastUpdatedDate: 0 });
    }
    const created = running.usagePlans.createKey({ name: 'key', value: VALUE, enabled: true });
    await expect(created).rejects.toMatchObject({ name: 'Refusal', code: 'key_quota_reached' });
  });
});
