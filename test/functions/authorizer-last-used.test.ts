import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { setScopes } from '#admin/operations/change-key.ts';
import { judge } from '#functions/authorizer.ts';
import { hashApiKey, newApiKey } from '#shared/api-keys/format.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { redirectLog } from '#shared/log.ts';
import { administrationBench } from '#test/admin/operations/bench.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';

let table: EmbeddedTable;
let restoreLog: () => void;
beforeAll(async () => {
  table = await startEmbeddedTable();
  restoreLog = redirectLog(() => {});
});
afterAll(async () => {
  restoreLog();
  await table.stop();
});

const eventWith = (key: string) =>
  ({
    headers: { 'x-api-key': key },
    methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:api/test/GET/v1/users',
    requestContext: { requestId: 'request' },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

const SECRET: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read'],
  plan: 'free',
  usage_id: 'u'.repeat(40),
  status: 'active',
  seller_status: 'active',
  last_used_day: '2026-11-20',
};

describe('the day of the newest use', () => {
  it('is written once a day, and a rotation or a suspension does not lose it', async () => {
    const bench = await administrationBench(table);
    const { secret, key } = await bench.issued();
    const store = keySecretStore(bench.table);
    let notes = 0;
    const secrets: typeof store = {
      ...store,
      noteUse: (hash, day) => {
        notes += 1;
        return store.noteUse(hash, day);
      },
    };
    const deps = { secrets, keyPrefix: 'blk_test_', clock: bench.clock } as const;
    const lastUsed = async () => (await store.findSecret(hashApiKey(secret)))?.last_used_day;

    await judge(eventWith(secret), deps);
    await judge(eventWith(secret), deps);
    expect([notes, await lastUsed()]).toEqual([1, '2026-11-21']);
    bench.clock.set('2026-11-22T00:00:00Z');
    await judge(eventWith(secret), deps);
    await judge(eventWith(secret), deps);
    expect([notes, await lastUsed()]).toEqual([2, '2026-11-22']);
    await setScopes(bench.admin, key.key_id, ['users:write']);
    expect(await lastUsed()).toBe('2026-11-22');
  });

  it('never goes back, and never makes an item of a secret that is gone', async () => {
    const bench = await administrationBench(table);
    const { secret } = await bench.issued();
    const store = keySecretStore(bench.table);
    await store.noteUse(hashApiKey(secret), '2026-11-22');
    await store.noteUse(hashApiKey(secret), '2026-11-21');
    expect((await store.findSecret(hashApiKey(secret)))?.last_used_day).toBe('2026-11-22');
    await store.noteUse('0'.repeat(64), '2026-11-22');
    expect(await store.findSecret('0'.repeat(64))).toBeUndefined();
  });

  it('never fails a request: a table that does not take it is not the caller’s concern', async () => {
    const key = newApiKey('blk_test_');
    const answer = await judge(eventWith(key), {
      secrets: { findSecret: async () => SECRET, noteUse: () => Promise.reject(new Error('throttled')) },
      keyPrefix: 'blk_test_',
      clock: () => Date.parse('2026-11-21T10:00:00Z'),
    });
    expect(answer.principalId).toBe('key_1');
  });
});
