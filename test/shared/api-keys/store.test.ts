import { mock } from 'node:test';
import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { secretKey } from '#shared/table/keys.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
afterEach(() => mock.restoreAll());

const secret: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read', 'users:write'],
  plan: 'free',
  usage_id: 'usage-1',
  status: 'active',
  seller_status: 'active',
  number: 1,
};

const put = (hash: string, item: object = secret) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: { ...secretKey(hash), ...item } }));

const itemOf = async (hash: string) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: secretKey(hash) }))).Item;

/** Does not measure time, so that a slow machine does not end a write. */
const withoutTimeout = () => mock.method(AbortSignal, 'timeout', () => new AbortController().signal);

describe('findSecret', () => {
  it('returns the secret with this hash, without its key attributes, and undefined for another hash', async () => {
    await put('found');
    const { findSecret } = keySecretStore(table);
    expect(await findSecret('found')).toEqual(secret);
    expect(await findSecret('other')).toBeUndefined();
  });

  it('reads strongly consistent, so that a new key works and a revoked one does not', async () => {
    const reads: unknown[] = [];
    const watched = interceptedTable(table, ({ input }, send) => {
      reads.push((input as { ConsistentRead?: boolean }).ConsistentRead);
      return send();
    });
    await keySecretStore(watched).findSecret('any');
    expect(reads).toEqual([true]);
  });

  it('throws for an item that is not a secret', async () => {
    await put('damaged', { ...secret, plan: 'gold' });
    await expect(keySecretStore(table).findSecret('damaged')).rejects.toThrow('gold');
  });
});

describe('recordFirstUse', () => {
  it('records the day, for any number of first requests at once', async () => {
    await put('first');
    const { recordFirstUse } = keySecretStore(table);
    const recorded = Array.from({ length: 5 }, () => recordFirstUse('first', '2026-11-21'));
    expect(await Promise.all(recorded)).toEqual(Array(5).fill(true));
    expect(await itemOf('first')).toEqual({ ...secretKey('first'), ...secret, last_used_day: '2026-11-21' });
  });

  it('returns false for a secret that was replaced, and creates no item for it', async () => {
    expect(await keySecretStore(table).recordFirstUse('replaced', '2026-11-21')).toBe(false);
    expect(await itemOf('replaced')).toBeUndefined();
  });

  it('is tried again while a transaction holds the item', async () => {
    await put('held');
    let attempts = 0;
    const held = interceptedTable(table, (_command, send) => {
      attempts += 1;
      if (attempts > 1) return send();
      const conflict = { message: 'the item is part of a transaction', $metadata: {} };
      return Promise.reject(new TransactionConflictException(conflict));
    });
    expect(await keySecretStore(held).recordFirstUse('held', '2026-11-21')).toBe(true);
    expect(attempts).toBe(2);
  });
});

describe('recordUse', () => {
  it('records the day and changes no other attribute', async () => {
    withoutTimeout();
    await put('used');
    await keySecretStore(table).recordUse('used', '2026-11-21');
    expect(await itemOf('used')).toEqual({ ...secretKey('used'), ...secret, last_used_day: '2026-11-21' });
  });

  it('replaces an earlier day, and keeps a later one', async () => {
    withoutTimeout();
    await put('days');
    const { recordUse } = keySecretStore(table);
    for (const [day, recorded] of [
      ['2026-11-21', '2026-11-21'],
      ['2026-11-22', '2026-11-22'],
      ['2026-11-20', '2026-11-22'],
    ] as const) {
      await recordUse('days', day);
      expect((await itemOf('days'))?.last_used_day).toBe(recorded);
    }
  });

  it('does not create an item for a secret that was deleted', async () => {
    withoutTimeout();
    await keySecretStore(table).recordUse('deleted', '2026-11-21');
    expect(await itemOf('deleted')).toBeUndefined();
  });

  it('throws if the write takes longer than 300 ms', async () => {
    const timeout = mock.method(AbortSignal, 'timeout', () => AbortSignal.abort(new Error('late')));
    await put('slow');
    await expect(keySecretStore(table).recordUse('slow', '2026-11-21')).rejects.toThrow();
    expect(timeout.mock.calls.map((call) => call.arguments)).toEqual([[300]]);
  });
});
