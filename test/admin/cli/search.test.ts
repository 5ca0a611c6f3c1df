import { linkBuyer } from '#test/admin/operations/linked-buyer.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let sellerId: string;
let keyId: string;
let rotatedKeyId: string;
let userId: string;
beforeAll(async () => {
  shell = await startTestShell();
  ({ seller_id: sellerId } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes'));
  await shell.json('sellers', 'create', 'Parvin Shoes');
  const issue = ['keys', 'issue', sellerId, '--plan', 'free', '--scopes', 'users:read', '--name'];
  ({ key_id: keyId } = await shell.json(...issue, 'Checkout'));
  ({ key_id: rotatedKeyId } = await shell.json(...issue, 'Reports'));
  await shell.json('keys', 'rotate', rotatedKeyId);
  ({ id: userId } = await linkBuyer(
    shell.table,
    sellerId,
    (await shell.hashes.phone('+989121234567')).current,
  ));
});
afterAll(() => shell.stop());

/** A list, the name of an item in it and its id. */
const lists = () =>
  [
    [['sellers', 'list'], 'sellers', 'kaveh b', sellerId],
    [['keys', 'list'], 'keys', 'checkout', keyId],
    [['users', 'list', sellerId], 'data', 'sara', userId],
    [['audit', keyId], 'records', 'issued', keyId],
  ] as const;

describe('--search', () => {
  it('finds by a part of a name and by a part of an id, both in any case, in every list', async () => {
    for (const [command, items, name, id] of lists()) {
      for (const text of [name, name.toUpperCase(), id.slice(4, 20), id.toLowerCase(), ` ${name} `]) {
        const found = (await shell.json(...command, '--search', text))[items];
        expect({ command, text, found }).toMatchObject({ found: [expect.anything()] });
        expect(JSON.stringify(found)).toContain(id);
      }
      expect((await shell.json(...command, '--search', 'nothing has this'))[items]).toEqual([]);
    }
  });

  it('of audit searches time, actor, action and details, of a seller or of one of its keys', async () => {
    const actionsOf = async (...args: string[]): Promise<string[]> =>
      (await shell.json('audit', ...args)).records.map(({ action }: { action: string }) => action);
    expect(await actionsOf(sellerId, '--search', 'ROTATED')).toEqual(['key.rotated']);
    expect(await actionsOf(rotatedKeyId, '--search', 'key.')).toEqual(['key.rotated', 'key.issued']);
    expect(await actionsOf(rotatedKeyId, '--search', 'seller.created')).toEqual([]);
    const today = new Date().toISOString().slice(0, 4);
    expect(await actionsOf(sellerId, '--search', today)).toHaveLength(4);
    expect(await actionsOf(sellerId, '--search', 'local:')).toHaveLength(4);
    expect(await actionsOf(sellerId, '--search', 'local:', '--limit', '1')).toEqual(['key.rotated']);
  });
});
