import { revokeKey } from '#admin/operations/change-key.ts';
import { deleteSeller } from '#admin/operations/delete-seller.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { findDifferences } from '#admin/operations/reconcile.ts';
import { removeUser } from '#admin/operations/users.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { linkBuyer } from './linked-buyer.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let sellerId: string;
let keyId: string;
beforeEach(async () => {
  deployment = await newAdministration();
  const { seller, key } = await deployment.issued();
  [sellerId, keyId] = [seller.seller_id, key.key_id];
});

/** What the table has of the seller and of keys, by the beginnings of the keys. */
const kindsLeft = async (): Promise<string[]> => {
  const about = (await itemsIn(deployment.table)).filter((item) =>
    [sellerId, keyId].some((id) => JSON.stringify(item).includes(id)),
  );
  return [...new Set(about.map(({ pk }) => String(pk).replace(/#.*/, '')))].sort();
};

const linkAndRemove = async (): Promise<void> => {
  const { id: userId } = await linkBuyer(deployment.table, sellerId, 'a phone');
  await removeUser(deployment.admin, { sellerId, userId, reason: 'operator' });
};

describe('deleteSeller', () => {
  it('deletes the seller, its entry in the list and its revoked keys, and keeps audit, events and tombstones', async () => {
    const { admin } = deployment;
    await linkAndRemove();
    await revokeKey(admin, keyId);
    await deployment.seller('Other');
    await deleteSeller(admin, sellerId);
    expect(await kindsLeft()).toEqual(['AUDIT', 'EVENTS', 'REMOVALS', 'REMOVED']);
    expect((await admin.sellers.list()).map(({ name }) => name)).toEqual(['Other']);
    expect(await admin.audit.list(sellerId, { limit: 9 })).toContainEqual(
      expect.objectContaining({ action: 'seller.deleted', details: { name: 'Kaveh Books' } }),
    );
    expect(await deployment.gatewayKeys()).toEqual([]);
    expect((await findDifferences(admin)).differences).toEqual([]);
  });

  it('refuses a seller with a user or with a key that is not revoked, and changes nothing', async () => {
    const { admin } = deployment;
    const refused = (users: number, keys: number) => ({
      code: 'seller_in_use',
      message: expect.stringContaining(`users: ${users}, and keys that are not revoked: ${keys}.`),
    });
    await expect(deleteSeller(admin, sellerId)).rejects.toMatchObject(refused(0, 1));
    await revokeKey(admin, keyId);
    await linkBuyer(deployment.table, sellerId, 'a phone');
    const before = await itemsIn(deployment.table);
    await expect(deleteSeller(admin, sellerId)).rejects.toMatchObject(refused(1, 0));
    expect(await itemsIn(deployment.table)).toEqual(before);
  });

  it('refuses a seller for which a key is issued meanwhile, or a user is linked', async () => {
    const { admin, beforeEachWrite, table } = deployment;
    await revokeKey(admin, keyId);
    let isDone = false;
    const once = (work: () => Promise<unknown>) => async (): Promise<void> => {
      if (isDone) return;
      isDone = true;
      await work();
    };
    const request = { sellerId, name: 'late', plan: 'free', scopes: ['users:read'] } as const;
    const deletion = () => deleteSeller(admin, sellerId);
    const issue = once(() => issueKey(admin, request));
    await expect(beforeEachWrite(issue, deletion)).rejects.toMatchObject({ code: 'seller_in_use' });
    for (const key of await admin.keys.listOf(sellerId)) await revokeKey(admin, key.key_id);
    const link = async (write: string): Promise<void> => {
      if (write === 'write SELLER SELLERS AUDIT') await linkBuyer(table, sellerId, 'a phone');
    };
    await expect(beforeEachWrite(link, deletion)).rejects.toMatchObject({ code: 'changed_meanwhile' });
    expect(await admin.sellers.find(sellerId)).toMatchObject({ user_count: 1 });
  });

  it('is completed by a second run, wherever the first one was interrupted', async () => {
    const writes = ['write SELLER AUDIT', 'flush', 'write KEY KEYID SECRET', 'write SELLER SELLERS AUDIT'];
    await revokeKey(deployment.admin, keyId);
    for (const write of writes)
      await deployment.interruptedBefore(write, () => deleteSeller(deployment.admin, sellerId));
    await deleteSeller(deployment.admin, sellerId);
    expect(await kindsLeft()).toEqual(['AUDIT']);
  });
});
