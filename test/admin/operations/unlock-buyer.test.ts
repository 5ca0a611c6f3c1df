import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unlockBuyer } from '#admin/operations/buyers.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { codeKey } from '#shared/table/keys.ts';
import { recordWrites, type TestAdministration, useAdministration } from './use-administration.ts';

const HASHES = new KeyedHash('current', ['older']);
const NOW_SECONDS = Date.parse('2026-11-21T10:00:00Z') / 1000;
const LOCKED = {
  version: 7,
  sends: [NOW_SECONDS - 60],
  failures: 100,
  lock_at: 100,
  last_failure_at: NOW_SECONDS - 30,
  mac: 'salt.mac',
  tries: ['a'],
};

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
});

const put = (Item: Record<string, unknown>) =>
  deployment.table.client.send(new PutCommand({ TableName: deployment.table.name, Item }));

const read = async (Key: { pk: string; sk: string }) =>
  (await deployment.table.client.send(new GetCommand({ TableName: deployment.table.name, Key }))).Item;

describe('unlockBuyer', () => {
  it('clears the failures of a phone for all sellers and under every hash', async () => {
    const keys = [codeKey('current', 'sel_1'), codeKey('current', 'public'), codeKey('older', 'sel_2')];
    for (const key of keys) await put({ ...key, ...LOCKED });
    expect(await unlockBuyer(deployment.admin, HASHES)).toBe(3);
    const { last_failure_at: _, ...kept } = LOCKED;
    for (const key of keys) {
      expect(await read(key)).toEqual({
        ...key,
        ...kept,
        version: 8,
        failures: 0,
        lock_at: 10,
        ttl: NOW_SECONDS + 86_400,
      });
    }
  });

  it('does not change items without failures', async () => {
    const code = { ...codeKey('current', 'sel_1'), version: 1, sends: [NOW_SECONDS], failures: 0 };
    await put(code);
    expect(await unlockBuyer(deployment.admin, HASHES)).toBe(0);
    expect(await read(codeKey('current', 'sel_1'))).toEqual(code);
    expect(await deployment.admin.audit.list('deployment', { limit: 10 })).toEqual([]);
  });

  it('writes the audit record in the transaction that clears the failures, without the phone', async () => {
    await put({ ...codeKey('current', 'sel_1'), ...LOCKED });
    const writes = recordWrites(deployment.table);
    await unlockBuyer(deployment.admin, HASHES);
    expect(writes()).toEqual([['CODE#current', 'AUDIT#sel_1']]);
    expect(await deployment.admin.audit.list('sel_1', { limit: 10 })).toEqual([
      {
        at: expect.any(String),
        actor: 'local:tester',
        action: 'buyer.unlocked',
        seller_id: 'sel_1',
        details: {},
      },
    ]);
  });

  it('clears the failures left after an interruption when it is repeated', async () => {
    for (const seller of ['sel_1', 'sel_2']) await put({ ...codeKey('current', seller), ...LOCKED });
    await deployment.interruptedBefore(1, () => unlockBuyer(deployment.admin, HASHES));
    expect(await unlockBuyer(deployment.admin, HASHES)).toBe(1);
    expect(await read(codeKey('current', 'sel_2'))).toMatchObject({ failures: 0 });
  });
});
