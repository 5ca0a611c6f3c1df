import { renameKey, revokeKey, rotateKey } from '#admin/operations/change-key.ts';
import { deleteAll } from '#admin/stores/batches.ts';
import { apiKeyKey, endedLinkKey, keyIdKey, personKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

/** Expects that a compare and a copy find the same. */
const expectBoth = async (...lines: readonly string[]): Promise<void> => {
  expect(await live.compared()).toEqual([...lines].sort());
  expect(await live.copied()).toEqual([...lines].sort());
};

describe('a registration', () => {
  const buyerOf = (person: string, registered_at = '2026-11-20T00:00:00.000Z'): StoredItem => ({
    pk: `BUYER#phone-of-${person}`,
    sk: 'BUYER',
    buyer_id: `byr_of_${person}`,
    registered_at,
  });
  const LATER = '2026-11-21T11:00:00.000Z';
  const PERSONS = ['person 0', 'person 1', 'person 2'];
  const buyersNow = async () =>
    (await live.items()).filter(({ pk }) => String(pk).startsWith('BUYER#phone-of'));
  const putBuyers = async (...persons: readonly string[]): Promise<void> => {
    await live.put(...persons.map((person) => buyerOf(person)));
    await live.takeRestorePoint();
  };

  it('comes back unless the buyer was removed or erased since', async () => {
    await putBuyers(...PERSONS, 'Sara', 'Reza');
    const before = await buyersNow();
    await live.erase('Sara');
    const audit = async (action: string, person: string): Promise<void> => {
      live.clock.advance(1);
      const details = { buyer_id: `byr_of_${person}` };
      await live.admin.audit.write(live.admin.record({ action, details }));
    };
    for (const person of ['Reza', 'person 0']) await audit('buyer.removed', person);
    await audit('buyer.added', 'person 0');
    await live.lose(/^BUYER#phone/);
    const others = (state: string) => PERSONS.map((person) => `buyer byr_of_${person} ${state}`);
    const gone = ['buyer byr_of_Reza removed', 'buyer byr_of_Sara erased'];
    expect(await live.compared()).toEqual([...others('missing'), ...gone].sort());
    expect(await live.copied()).toEqual([...others('copied'), ...gone].sort());
    expect(await buyersNow()).toEqual(before.filter(({ pk }) => !/Sara|Reza/.test(String(pk))));
  });

  it('stays as it is if the buyer registers again at the same moment, and the others come back', async () => {
    await putBuyers('person 0', 'person 1');
    await live.lose(/^BUYER#phone/);
    const again = buyerOf('person 0', LATER);
    const found = await live.copiedBeside('BUYER', () => live.put(again));
    expect(found).toEqual(['buyer byr_of_person 0 differs', 'buyer byr_of_person 1 copied']);
    expect(await buyersNow()).toContainEqual(again);
  });

  it('is listed as not erased if the buyer is erased beside the copy, unless the buyer registers again', async () => {
    await putBuyers('Sara');
    await live.lose(/^BUYER#phone/);
    const found = await live.copiedBeside('BUYER', () => live.erase('Sara'));
    expect(found).toEqual(['buyer byr_of_Sara copied', 'buyer byr_of_Sara not_erased']);
    await expectBoth('buyer byr_of_Sara not_erased');
    await live.put(buyerOf('Sara', LATER));
    await expectBoth();
  });

  it('of a buyer who is erased beside the copy and registers again is not listed as not erased', async () => {
    await putBuyers('Sara');
    await live.lose(/^BUYER#phone/);
    const found = await live.copiedBeside('BUYER', async () => {
      await live.erase('Sara');
      await live.put(buyerOf('Sara', LATER));
    });
    expect(found).toEqual(['buyer byr_of_Sara differs']);
    await expectBoth();
  });

  it('of a buyer who was removed and registered again is not listed', async () => {
    await putBuyers('Reza');
    const removal = { action: 'buyer.removed', details: { buyer_id: 'byr_of_Reza' } };
    await live.admin.audit.write(live.admin.record(removal));
    await live.put(buyerOf('Reza', LATER));
    await expectBoth();
  });

  it('does not come back if only one seller does, nor do users and refusals of another', async () => {
    const { seller_id } = await live.seller('Other');
    const id = await live.link('Sara');
    await live.link('Sara', undefined, seller_id);
    await live.endLink(await live.link('Reza'));
    const refusal = { phone_hash: 'phone-of-Omid', refused_at: 1_900_000_000 };
    await live.put({ ...endedLinkKey('phone-of-Omid', seller_id, 'hash-of-Omid'), ...refusal });
    await putBuyers('Sara');
    await live.lose(/^(?:USERS|PERSON|LINKS|BUYER#phone)/);
    expect(await live.copied({ sellerId: live.sellerId })).toEqual(['refusal  copied', `user ${id} copied`]);
  });
});

describe('a refusal', () => {
  const OTHER_PHONE = { phone_hash: 'phone-of-later', refused_at: 1_900_000_000 };
  const linkAndEnd = async (person: string): Promise<void> => {
    await live.endLink(await live.link(person));
  };
  const personOf = (person: string) => personKey(live.sellerId, `hash-of-${person}`);
  const linkOf = (person: string) => endedLinkKey(`phone-of-${person}`, live.sellerId, `hash-of-${person}`);
  const itemsOf = (person: string) =>
    Promise.all([personOf(person), linkOf(person)].map((key) => getItem(live.table, key)));

  it('comes back as both of its items', async () => {
    await linkAndEnd('Sara');
    const before = await itemsOf('Sara');
    await live.takeRestorePoint();
    await live.lose(/^(?:PERSON|LINKS)#/);
    expect(await live.compared()).toEqual(['refusal  missing']);
    expect(await live.copied()).toEqual(['refusal  copied']);
    expect(await itemsOf('Sara')).toEqual(before);
    expect(await live.copied()).toEqual([]);
  });

  it.each([
    ['person', /^PERSON#/],
    ['phone', /^LINKS#/],
  ] as const)('gets the item of its %s back, with the time of the other', async (_name, lost) => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    const refused_at = 1_900_000_000;
    for (const item of await itemsOf('Sara')) await live.put({ ...item, refused_at });
    const before = await itemsOf('Sara');
    await live.lose(lost);
    expect(await live.copied()).toEqual(['refusal  copied']);
    expect(await itemsOf('Sara')).toEqual(before);
  });

  const linkedAgain = () => ({ ...personOf('Sara'), user_id: 'usr_of_later', phone_hash: 'phone-of-Sara' });

  it.each<[string, string, () => Promise<unknown>]>([
    ['taken', 'the person is linked again', () => live.put(linkedAgain())],
    [
      'taken',
      'the person has refused by another phone',
      () => live.put({ ...personOf('Sara'), ...OTHER_PHONE }),
    ],
    ['erased', 'the buyer was erased since', () => live.erase('Sara')],
  ])('stays away as %s if %s', async (state, _name, change) => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await change();
    await live.lose(/^LINKS#/);
    await expectBoth(`refusal  ${state}`);
  });

  it('is listed as not erased if the buyer was erased since and one of its items is left', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^LINKS#/);
    await live.erase('Sara');
    await expectBoth('refusal  not_erased');
  });

  it('stays away if the person is linked again between the read and the write', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^LINKS#/);
    const found = await live.copiedBeside('LINKS', () => live.put(linkedAgain()));
    expect(found).toEqual(['refusal  taken']);
    expect(await itemsOf('Sara')).toEqual([linkedAgain(), undefined]);
  });

  it('is listed as not erased if the buyer is erased beside the copy, unless the buyer refuses again', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^(?:PERSON|LINKS)#/);
    const found = await live.copiedBeside('LINKS', () => live.erase('Sara'));
    expect(found).toEqual(['refusal  copied', 'refusal  not_erased']);
    for (const item of await itemsOf('Sara')) await live.put({ ...item, refused_at: 1_900_000_000 });
    await expectBoth();
  });
});

describe('a key', () => {
  const issued = async () => (await live.issued({ sellerId: live.sellerId })).key.key_id;
  const keyOf = (id: string) => apiKeyKey(live.sellerId, id);
  const lose = (...ids: readonly string[]) => deleteAll(live.table, ids.map(keyOf));

  it('that is missing comes back as pending, and is listed until it is confirmed or withdrawn', async () => {
    const id = await issued();
    const before = await getItem(live.table, keyOf(id));
    await live.takeRestorePoint();
    await live.lose(/^KEYID#/);
    await lose(id);
    expect(await live.compared()).toEqual([`key ${id} missing`]);
    expect(await live.copied()).toEqual([`key ${id} pending`]);
    const restored_at = live.admin.now();
    expect(await getItem(live.table, keyOf(id))).toEqual({ ...before, status: 'pending', restored_at });
    expect((await live.admin.keys.find(id))?.status).toBe('pending');
    expect((await live.admin.audit.list(live.sellerId, { limit: 1 }))[0]).toMatchObject({
      action: 'key.restored',
      key_id: id,
    });
    expect(await live.copied()).toEqual([`key ${id} pending`]);
    await revokeKey(live.admin, id);
    await expectBoth(`key ${id} removed`);
  });

  it('that is missing stays away if it was revoked since', async () => {
    const id = await issued();
    await live.takeRestorePoint();
    await revokeKey(live.admin, id);
    await lose(id);
    await expectBoth(`key ${id} removed`);
  });

  it('that was revoked before the restore point does not come back', async () => {
    const id = await issued();
    await revokeKey(live.admin, id);
    await live.takeRestorePoint();
    await lose(id);
    await expectBoth();
    expect(await getItem(live.table, keyOf(id))).toBeUndefined();
  });

  it('that was rotated since stays away, so that no secret is valid again whose end has come', async () => {
    const [rotated, older] = [await issued(), await issued()];
    await rotateKey(live.admin, older, 0);
    await live.takeRestorePoint();
    await rotateKey(live.admin, rotated, 0);
    await lose(rotated, older);
    expect(await live.copied()).toEqual([`key ${rotated} rotated`, `key ${older} pending`].sort());
    expect(await getItem(live.table, keyOf(rotated))).toBeUndefined();
  });

  it('that is missing comes back as pending and is listed if another change since is lost', async () => {
    const id = await issued();
    await live.takeRestorePoint();
    await renameKey(live.admin, id, 'renamed');
    await lose(id);
    expect(await live.copied()).toEqual([`key ${id} change_lost`]);
    expect(await getItem(live.table, keyOf(id))).toMatchObject({ status: 'pending', name: 'server' });
    expect(await live.copied()).toEqual([`key ${id} pending`]);
  });

  it('that exists gets back what finds it by its id, and nothing if it is changed at the same moment', async () => {
    const id = await issued();
    await live.takeRestorePoint();
    await deleteAll(live.table, [keyIdKey(id)]);
    const renamed = { ...(await getItem(live.table, keyOf(id))), name: 'renamed', version: 3 };
    expect(await live.compared()).toEqual([`key ${id} missing`]);
    expect(await live.copiedBeside('KEYID', () => live.put(renamed))).toEqual([`key ${id} differs`]);
    expect(await getItem(live.table, keyIdKey(id))).toBeUndefined();
    await live.admin.audit.write(
      live.admin.record({ action: 'key.renamed', seller_id: live.sellerId, key_id: id }),
    );
    expect(await live.copied()).toEqual([`key ${id} copied`]);
    expect(await live.admin.keys.find(id)).toMatchObject({ status: 'active', name: 'renamed' });
  });

  it('that exists is listed if it was overwritten, is damaged, or is active although it was revoked', async () => {
    const [changed, overwritten, damaged, active] = [
      await issued(),
      await issued(),
      await issued(),
      await issued(),
    ];
    await live.takeRestorePoint();
    const past = await getItem(live.table, keyOf(active));
    for (const id of [changed, damaged]) await renameKey(live.admin, id, 'renamed');
    await revokeKey(live.admin, active);
    await live.put(
      { ...(await getItem(live.table, keyOf(overwritten))), plan: 'professional' },
      { ...(await getItem(live.table, keyOf(damaged))), scopes: 'wrong' },
      { ...past },
    );
    await expectBoth(...[overwritten, damaged, active].map((id) => `key ${id} differs`));
  });
});
