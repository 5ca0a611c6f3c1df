import {
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  GetApiKeysCommand,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { KEY_QUOTA } from '#admin/usage-plans/port.ts';
import { PLAN_IDS } from './identifiers.ts';
import { type RunningApiGateway, startApiGateway, useApiGateway } from './use-api-gateway.ts';

const apiGateway = useApiGateway();
let running: RunningApiGateway;
beforeEach(() => {
  running = apiGateway();
});

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
    await expect(
      client.send(new UpdateApiKeyCommand({ apiKey: 'none', patchOperations: [] })),
    ).rejects.toMatchObject({
      name: 'NotFoundException',
      message: 'Invalid API Key identifier specified',
    });
    await expect(
      client.send(new CreateUsagePlanKeyCommand({ usagePlanId: 'none', keyId, keyType: 'API_KEY' })),
    ).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  it('is BadRequestException for an unknown patch', async () => {
    const { id: apiKey } = await newKey();
    const patchOperations = [{ op: 'replace' as const, path: '/value', value: 'x' }];
    await expect(
      running.client.send(new UpdateApiKeyCommand({ apiKey, patchOperations })),
    ).rejects.toMatchObject({
      name: 'BadRequestException',
    });
  });
});

describe('the simulated API Gateway', () => {
  it('refuses a call that it does not serve with 404, and a body that is no JSON with 400', async () => {
    const headers = { Authorization: 'AWS4-HMAC-SHA256 Credential=test/20261121' };
    const call = async (path: string) => {
      const reply = await fetch(`${running.endpoint}${path}`, { method: 'POST', headers, body: '{' });
      return [reply.status, reply.headers.get('x-amzn-errortype')];
    };
    expect(await call('/domainnames')).toEqual([404, 'UnknownOperationException']);
    expect(await call('/apikeys')).toEqual([400, 'BadRequestException']);
  });

  it('returns a value only when includeValues is set', async () => {
    await newKey();
    const { client } = running;
    expect((await client.send(new GetApiKeysCommand({}))).items?.[0]?.value).toBeUndefined();
    expect((await client.send(new GetApiKeysCommand({ includeValues: true }))).items?.[0]?.value).toBe(VALUE);
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

  it('makes the adapter refuse a key with key_quota_reached when the account is full', async () => {
    const keys = Array.from({ length: KEY_QUOTA }, (_, index) => ({
      id: `other${index}`,
      value: `other${index}`,
      name: 'other',
      enabled: true,
    }));
    const full = await startApiGateway({ keys });
    const created = full.usagePlans.createKey({ name: 'key', value: VALUE, enabled: true });
    await expect(created).rejects.toMatchObject({ name: 'AdminError', code: 'key_quota_reached' });
    await full.stop();
  });
});
