import { renameKey, revokeKey, rotateKey, setScopes } from '#admin/operations/change-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { deleteAll } from '#admin/stores/batches.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { apiKeyKey, keyIdKey, SELLERS_PARTITION, sellerKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';
import { faultsIn } from './invariants.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

const sellerNow = () => getItem(live.table, sellerKey(live.sellerId));

describe('a missing seller', () => {
  it('fills an empty table with its users, what was removed before, buyers, and pending keys', async () => {
    const { key } = await live.issued({ sellerId: live.sellerId });
    const [first, removed, third] = [
      await live.link('Sara'),
      await live.link('Reza'),
      await live.link('Omid'),
    ];
    await live.remove(removed);
    const source = await live.takeRestorePoint();
    await deleteAll(live.table, await live.items());
    const others = (await live.compared()).filter(
      (line) => line.startsWith('seller') && !line.includes(live.sellerId),
    );
    const found = await live.copied({ erased: [new KeyedHash('phone-of-Omid')] });
    expect(found).toEqual(
      [
        ...others.map((line) => line.replace('missing', 'copied')),
        'buyer byr_1 copied',
        `key ${key.key_id} copied`,
        `key ${key.key_id} key_pending`,
        `seller ${live.sellerId} copied`,
        `seller ${live.sellerId} removals_unknown`,
        `user ${first} copied`,
        `user ${third} erased`,
      ].sort(),
    );
    expect([(await live.userAt(1))?.display_name, await live.userAt(2), await live.userAt(3)]).toEqual([
      'Sara',
      undefined,
      undefined,
    ]);
    expect(await sellerNow()).toEqual({
      ...(await getItem(source, sellerKey(live.sellerId))),
      user_count: 3,
      removed_count: 2,
      // Four before, then one link and one erasure.
      event_count: 1_000_006,
    });
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('keeps no older events, so that every reader of before gets events_expired, and reads on from the last number', async () => {
    await live.link('Sara');
    await live.takeRestorePoint();
    await deleteAll(live.table, await live.items());
    await live.copied();
    const { listAfter, listFromOldest } = eventReads(live.table);
    const reading = { sellerId: live.sellerId, limit: 100, nowMs: live.clock() };
    expect(await Promise.all([0, 1, 2, 999_999].map((after) => listAfter(reading, after)))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect((await listFromOldest(reading)).last).toBe(1_000_002);
    expect(await listAfter(reading, 1_000_002)).toEqual({ events: [], last: 1_000_002 });
  });

  it('is finished by the next run after an interruption before any write', async () => {
    for (const person of ['Sara', 'Reza']) await live.link(person, `E-${person}`);
    await live.endLink(await live.link('Omid'));
    await live.issued({ sellerId: live.sellerId });
    await live.takeRestorePoint();
    const writesOf = async () => {
      await deleteAll(live.table, await live.items());
      return (await live.writesOf(() => live.copied())).length;
    };
    const writes = await writesOf();
    const content = async () =>
      (await live.items())
        .filter(({ pk }) => !String(pk).startsWith('AUDIT#'))
        .map(({ event_count: _, last_event: __, restored_at: ___, ...item }) => item);
    const whole = await content();
    expect(writes).toBeGreaterThan(8);
    for (let interrupted = 0; interrupted < writes; interrupted += 1) {
      await deleteAll(live.table, await live.items());
      await live.interruptedBefore(interrupted, () => live.copied());
      await live.copied();
      expect(await content()).toEqual(whole);
    }
  });

  it('gives no user the place of one that was linked since, and comes back suspended if it was', async () => {
    const first = await live.link('Sara');
    await live.takeRestorePoint();
    await setSellerStatus(live.admin, live.sellerId, 'suspended');
    const removed = await live.link('Reza');
    await live.link('Omid');
    await live.remove(removed);
    await deleteAll(live.table, [sellerKey(live.sellerId)]);
    await live.lose(/^USERS#/);
    expect(await live.copied()).toEqual(
      [
        `seller ${live.sellerId} copied`,
        `seller ${live.sellerId} removals_unknown`,
        `user ${first} copied`,
      ].sort(),
    );
    expect(await sellerNow()).toMatchObject({ status: 'suspended', user_count: 3, removed_count: 1 });
  });
});

describe('a seller that exists', () => {
  it('gets its counts raised to its items, so that the next user gets a place of its own', async () => {
    await live.link('Sara');
    const source = await live.takeRestorePoint();
    await live.link('Reza');
    const old = await getItem(source, sellerKey(live.sellerId));
    await live.put({ ...old });
    expect(await live.compared()).toEqual([`seller ${live.sellerId} counts_low`]);
    expect(await live.copied()).toEqual([`seller ${live.sellerId} counts_raised`]);
    expect(await sellerNow()).toEqual({ ...old, user_count: 2, event_count: 2 });
    await live.link('Omid');
    expect((await live.userAt(3))?.display_name).toBe('Omid');
  });

  it.each([
    ['wrong', { event_count: 'wrong', user_count: 'wrong' }],
    ['missing', { event_count: undefined, user_count: undefined }],
  ])('gets its counts back if they are %s, and its users after that', async (_name, wrong) => {
    const id = await live.link('Sara');
    const source = await live.takeRestorePoint();
    const old = await getItem(source, sellerKey(live.sellerId));
    await live.put({ ...old, ...wrong });
    await live.lose(/^USERS#/);
    expect(await live.copied()).toEqual([`seller ${live.sellerId} counts_raised`, `user ${id} copied`]);
    expect(await sellerNow()).toEqual({ ...old, user_count: 1, event_count: 2 });
  });

  it('is listed if it was overwritten, or changed since, and gets its entry in the list of sellers back', async () => {
    const { seller_id: other } = await live.seller('Other');
    await live.takeRestorePoint();
    await live.put({ ...(await sellerNow()), name: 'overwritten' });
    await setSellerStatus(live.admin, other, 'suspended');
    await live.lose(new RegExp(`^${SELLERS_PARTITION}$`));
    const found = (state: string) => [
      `seller ${live.sellerId} differs`,
      `seller ${live.sellerId} ${state}`,
      `seller ${other} changed`,
      `seller ${other} ${state}`,
    ];
    expect(await live.compared()).toEqual(found('incomplete').sort());
    expect(await live.copied()).toEqual(found('completed').sort());
    expect((await live.admin.sellers.list()).map(({ seller_id }) => seller_id).sort()).toEqual(
      [live.sellerId, other].sort(),
    );
  });
});

describe('a key', () => {
  const issued = async () =>
    (await live.issued({ sellerId: live.sellerId, scopes: ['users:write'] })).key.key_id;
  const lines = (found: readonly string[]) => found.filter((line) => line.startsWith('key'));

  it('that is missing comes back pending, unless it was revoked since', async () => {
    const [kept, revoked] = [await issued(), await issued()];
    const source = await live.takeRestorePoint();
    await revokeKey(live.admin, revoked);
    await live.lose(/^KEYID#/);
    for (const id of [kept, revoked]) await deleteAll(live.table, [apiKeyKey(live.sellerId, id)]);
    expect(lines(await live.compared())).toEqual(
      [`key ${kept} missing`, `key ${kept} key_pending`, `key ${revoked} removed`].sort(),
    );
    expect(lines(await live.copied({ sellerId: live.sellerId }))).toEqual(
      [`key ${kept} copied`, `key ${kept} key_pending`, `key ${revoked} removed`].sort(),
    );
    const key = apiKeyKey(live.sellerId, kept);
    expect(await getItem(live.table, key)).toEqual({
      ...(await getItem(source, key)),
      status: 'pending',
      restored_at: live.admin.now(),
    });
    expect((await live.admin.keys.find(kept))?.status).toBe('pending');
  });

  it('that was revoked before the restore point does not come back', async () => {
    const id = await issued();
    await revokeKey(live.admin, id);
    await live.takeRestorePoint();
    await live.lose(/^KEYID#/);
    await deleteAll(live.table, [apiKeyKey(live.sellerId, id)]);
    expect(lines(await live.copied())).toEqual([]);
    expect(await getItem(live.table, apiKeyKey(live.sellerId, id))).toBeUndefined();
  });

  it('that was rotated since comes back with the secrets of now, so that none is valid again whose end has come', async () => {
    const { key, secret } = await live.issued({ sellerId: live.sellerId });
    await live.takeRestorePoint();
    const rotated = await rotateKey(live.admin, key.key_id, 0);
    await deleteAll(live.table, [apiKeyKey(live.sellerId, key.key_id)]);
    await live.copied();
    expect((await live.admin.keys.find(key.key_id))?.secrets).toEqual(rotated.key.secrets);
    expect([await live.works(secret), await live.works(rotated.secret)]).toEqual([false, true]);
  });

  it('that lacks one of three changes of its audit is listed, one that has them all is not', async () => {
    const [older, current] = [await issued(), await issued()];
    await live.takeRestorePoint();
    const past = await getItem(live.table, apiKeyKey(live.sellerId, older));
    for (const id of [older, current]) {
      await renameKey(live.admin, id, 'renamed');
      await setScopes(live.admin, id, ['users:read']);
      await renameKey(live.admin, id, 'renamed again');
    }
    // Version 2 was restored; with three changes it would be 5.
    await live.put({ ...past, version: 4, name: 'renamed' });
    expect(past?.version).toBe(2);
    expect(await live.copied()).toEqual([`key ${current} changed`, `key ${older} key_older`].sort());
    expect((await live.admin.keys.find(older))?.name).toBe('renamed');
  });

  it('that a copy brought back is not taken for older than the changes of before, but for those after it', async () => {
    const id = await issued();
    await live.takeRestorePoint();
    await renameKey(live.admin, id, 'renamed');
    await deleteAll(live.table, [apiKeyKey(live.sellerId, id)]);
    live.clock.advance(1);
    await live.copied();
    live.clock.advance(1);
    const confirmed = { status: 'active', version: 3 };
    const restored = await getItem(live.table, apiKeyKey(live.sellerId, id));
    await live.admin.audit.write(
      live.admin.record({ action: 'key.confirmed', seller_id: live.sellerId, key_id: id }),
    );
    await live.put({ ...restored, ...confirmed });
    expect(lines(await live.compared())).toEqual([`key ${id} changed`]);
    await live.put({ ...restored, ...confirmed, version: 2 });
    expect(lines(await live.compared())).toEqual([`key ${id} key_older`]);
  });

  it('that is active although its audit says that it was revoked, that is damaged, or that was overwritten is listed', async () => {
    const [active, damaged, overwritten, unfound] = [
      await issued(),
      await issued(),
      await issued(),
      await issued(),
    ];
    await live.takeRestorePoint();
    const items = await Promise.all(
      [active, damaged, overwritten].map((id) => getItem(live.table, apiKeyKey(live.sellerId, id))),
    );
    await revokeKey(live.admin, active);
    await live.put({ ...items[0] }, { ...items[1], scopes: 'wrong' }, { ...items[2], plan: 'professional' });
    await deleteAll(live.table, [keyIdKey(unfound)]);
    expect(await live.copied()).toEqual(
      [
        `key ${active} key_revoked`,
        `key ${damaged} differs`,
        `key ${overwritten} differs`,
        `key ${unfound} completed`,
      ].sort(),
    );
    expect((await live.admin.keys.find(unfound))?.status).toBe('active');
  });
});

describe('a restored table', () => {
  it('is refused if it has no seller, not the named one, or none of the live table', async () => {
    await live.takeRestorePoint();
    const [other, empty] = [await newDeployment(), await live.newTable()];
    await other.takeRestorePoint();
    await expect(live.copied({ source: empty })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('has no sellers'),
    });
    await expect(live.copied({ sellerId: 'sel_other' })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('has no seller sel_other'),
    });
    await expect(live.copied({ source: other.table })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('no seller in common'),
    });
  });

  it('is refused if its audit is older than 35 days, unless the erased phones are named', async () => {
    await live.takeRestorePoint();
    live.clock.advance(35 * 86_400);
    await expect(live.copied()).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('--erased'),
    });
    expect(await live.copied({ erased: [] })).toEqual([]);
  });

  it('whose users have a seller that it lacks gives a line about that', async () => {
    const { seller_id: other } = await live.seller('Other');
    await live.link('Sara', undefined, other);
    const source = await live.takeRestorePoint();
    await deleteAll(source, [sellerKey(other)]);
    expect(await live.compared()).toEqual([`seller ${other} seller_unknown`]);
  });

  it('is read to the end of a step after an interrupt, and no further', async () => {
    await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(/^USERS#/);
    await expect(live.copied({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'interrupted' });
    expect(await live.userAt(1)).toBeUndefined();
  });
});
