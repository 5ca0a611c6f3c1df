import { createSeller } from '#admin/operations/create-seller.ts';
import { eraseBuyer } from '#admin/operations/erase-buyer.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { removeUser } from '#admin/operations/remove-user.ts';
import { replay } from '#admin/operations/replay.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { inAnHour } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { linkBuyer } from './linked-buyer.ts';
import { comparable, damage, itemsIn, restoredFrom } from './restored-table.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

type Issued = Awaited<ReturnType<TestAdministration['issued']>>;

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Issued;
let snapshot: readonly StoredItem[];

const PHONE_HASH = 'phone-of-the-buyer';

/** A table with one key and one registered buyer, who is linked once; then time passes after the restore point. */
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  await adminBuyerStore(deployment.table).register(
    { phoneHashes: [PHONE_HASH], buyerId: 'byr_9' },
    deployment.admin.record({ action: 'buyer.added' }),
  );
  await linkBuyer(deployment.table, issued.seller.seller_id, PHONE_HASH);
  snapshot = await itemsIn(deployment.table);
  deployment.clock.advance(60);
});

const isAccepted = async (admin: TestAdministration['admin'], secret: string): Promise<boolean> =>
  (await keySecretStore(admin.table).findSecret(hashApiKey(secret)))?.status === 'active';

describe('replay', () => {
  it('keeps a key revoked, so that reconcile does not register it with API Gateway again', async () => {
    await revokeKey(deployment.admin, issued.key.key_id);
    const admin = await restoredFrom(deployment, snapshot);
    expect(await isAccepted(admin, issued.secret)).toBe(true);
    expect(await replay(admin, deployment.table)).toMatchObject({
      copied: { keys: 1, 'key secrets': 1, 'audit records': 1 },
    });
    expect(await isAccepted(admin, issued.secret)).toBe(false);
    expect((await reconcile(admin, { fix: true })).findings).toEqual([]);
    expect(await deployment.gatewayKeys()).toEqual([]);
  });

  it('deletes a secret that two rotations without grace have dropped', async () => {
    await rotateKey(deployment.admin, issued.key.key_id, 0);
    deployment.clock.advance(1);
    const { secret } = await rotateKey(deployment.admin, issued.key.key_id, 0);
    const admin = await restoredFrom(deployment, snapshot);
    expect((await replay(admin, deployment.table)).deleted).toEqual({ 'key secrets': 1 });
    expect([await isAccepted(admin, issued.secret), await isAccepted(admin, secret)]).toEqual([false, true]);
  });

  it('keeps a key that was issued since, and its seller', async () => {
    const { seller_id: sellerId } = await createSeller(deployment.admin, 'New Shop');
    const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'] } as const;
    const { secret } = await issueKey(deployment.admin, request);
    const admin = await restoredFrom(deployment, snapshot);
    await replay(admin, deployment.table);
    expect(await isAccepted(admin, secret)).toBe(true);
    expect((await admin.sellers.list()).map(({ name }) => name)).toEqual(['Kaveh Books', 'New Shop']);
  });

  it('brings back the users and the buyer that the damage deleted', async () => {
    const before = comparable(await itemsIn(deployment.table));
    await damage(
      deployment.table,
      before.filter(({ pk }) => /^(?:USERS|PERSON|LINKS|BUYER)#/.test(String(pk))),
    );
    const admin = await restoredFrom(deployment, snapshot);
    await replay(admin, deployment.table);
    expect(comparable(await itemsIn(admin.table))).toEqual(before);
  });

  it('repeats an erasure: nothing of the buyer is left but ids and the keyed hash in the audit', async () => {
    await eraseBuyer(deployment.admin, [PHONE_HASH]);
    const admin = await restoredFrom(deployment, snapshot);
    expect(await replay(admin, deployment.table)).toMatchObject({ removedUsers: 1, deleted: { buyers: 1 } });
    const items = await itemsIn(admin.table);
    expect(items.filter((item) => JSON.stringify(item).includes(PHONE_HASH))).toMatchObject([
      { action: 'buyer.erase_started', phone_hashes: [PHONE_HASH] },
    ]);
    expect(JSON.stringify(items)).not.toContain('Sara Ahmadi');
  });

  it('repeats an erasure of a user whom the damage had deleted before it', async () => {
    await damage(
      deployment.table,
      snapshot.filter(({ pk }) => /^(?:USERS|PERSON)#/.test(String(pk))),
    );
    await eraseBuyer(deployment.admin, [PHONE_HASH]);
    await linkBuyer(deployment.table, issued.seller.seller_id, 'another phone', { display_name: 'Kaveh' });
    const admin = await restoredFrom(deployment, snapshot);
    await replay(admin, deployment.table);
    expect(JSON.stringify(await itemsIn(admin.table))).not.toContain('Sara Ahmadi');
    expect(await admin.sellers.find(issued.seller.seller_id)).toMatchObject({
      user_count: 2,
      removed_count: 1,
      event_count: 3,
    });
  });

  it('brings back the link of a buyer who was erased, registered and linked again before the restore point', async () => {
    await eraseBuyer(deployment.admin, [PHONE_HASH]);
    deployment.clock.advance(60);
    const created_at = new Date(deployment.clock()).toISOString();
    const user = await linkBuyer(deployment.table, issued.seller.seller_id, PHONE_HASH, { created_at });
    const linkedAgain = await itemsIn(deployment.table);
    await damage(
      deployment.table,
      linkedAgain.filter(({ id }) => id === user.id),
    );
    const admin = await restoredFrom(deployment, linkedAgain);
    expect(await replay(admin, deployment.table)).toMatchObject({ deleted: {} });
    expect(comparable(await itemsIn(admin.table))).toEqual(comparable(linkedAgain));
  });

  it('takes an external id from a user of the restore point that a user linked since has', async () => {
    const { seller_id } = issued.seller;
    const store = userStore(deployment.table);
    const before = await linkBuyer(deployment.table, seller_id, 'another phone', { external_id: 'A-1' });
    const atRestorePoint = await itemsIn(deployment.table);
    const update = { external_id: null };
    const updatedAt = '2026-11-21T11:00:00.000Z';
    await store.updateUser(seller_id, before.id, { update, updatedAt, deadlineMs: inAnHour() });
    const since = await linkBuyer(deployment.table, seller_id, 'a third phone', { external_id: 'A-1' });

    const admin = await restoredFrom(deployment, atRestorePoint);
    await replay(admin, deployment.table);
    const holders = (await itemsIn(admin.table)).filter(({ external_id }) => external_id === 'A-1');
    expect(holders.map(({ pk, id }) => [String(pk).split('#')[0], id])).toEqual([
      ['EXTERNAL', since.id],
      ['LINKS', since.id],
      ['USERS', since.id],
    ]);
    expect(await userStore(admin.table).getUser(seller_id, before.id)).toMatchObject({ external_id: null });
  });

  it('gives no ordinal out twice after users were linked and removed since the restore point', async () => {
    const { seller_id } = issued.seller;
    const since = await linkBuyer(deployment.table, seller_id, 'another phone');
    await removeUser(deployment.admin, { sellerId: seller_id, userId: since.id, reason: 'operator' });
    const admin = await restoredFrom(deployment, snapshot);
    await replay(admin, deployment.table);
    const next = await linkBuyer(admin.table, seller_id, 'a third phone');
    expect(next.id.slice(0, 11)).toBe('usr_0000003');
  });

  it('can be run again after an interruption before any step, with the same result', async () => {
    await eraseBuyer(deployment.admin, [PHONE_HASH]);
    await rotateKey(deployment.admin, issued.key.key_id, 0);
    const expected = comparable(await itemsIn(deployment.table));
    const whole = await restoredFrom(deployment, snapshot);
    const { length } = await deployment.stepsOf(() => replay(whole, deployment.table));
    for (let index = 0; index < length; index += 1) {
      const admin = await restoredFrom(deployment, snapshot);
      await deployment.interruptedBefore(index, () => replay(admin, deployment.table));
      await expect(reconcile(admin, { fix: false })).rejects.toMatchObject({ code: 'not_replayed' });
      await replay(admin, deployment.table);
      expect(comparable(await itemsIn(admin.table))).toEqual(expected);
    }
  });

  it('is refused on a table that was replayed, because it would undo what was done since', async () => {
    const admin = await restoredFrom(deployment, snapshot);
    await replay(admin, deployment.table);
    await expect(replay(admin, deployment.table)).rejects.toMatchObject({ code: 'already_replayed' });
    await expect(replay(deployment.admin, admin.table)).rejects.toMatchObject({ code: 'already_replayed' });
  });

  it('is refused with a table of other sellers, whose keys would replace those of this stage', async () => {
    const admin = await restoredFrom(deployment, snapshot);
    const other = await newAdministration();
    await other.issued();
    await expect(replay(admin, other.table)).rejects.toMatchObject({ code: 'bad_input' });
    expect(comparable(await itemsIn(admin.table))).toEqual(comparable(snapshot));
  });
});
