import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { renameKey } from '#admin/operations/change-key.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import type { RestoreOptions } from '#admin/operations/restore/restoring.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { eventsPartition, userKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { inAnHour, linkOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { type TestAdministration, useAdministration } from '../use-administration.ts';
import { itemsIn } from './damage.ts';
import { faultsIn } from './invariants.ts';

const newAdministration = useAdministration();

const AT = '2026-11-21T00:00:00.000Z';

let deployment: TestAdministration;
let sellerId: string;
let source: Table;

const link = async (person: string, externalId?: string): Promise<string> => {
  const { user, ...newLink } = linkOf(sellerId, person);
  const result = await userStore(deployment.table).link(
    { ...newLink, user: { ...user, external_id: externalId } },
    inAnHour(),
  );
  if (!result.written) throw new Error(`the person was not linked: ${result.reason}`);
  return result.value.id;
};

const correct = (userId: string, update: { display_name?: string; external_id?: string | null }) =>
  userStore(deployment.table).updateUser(sellerId, userId, {
    update,
    updatedAt: deployment.admin.now(),
    deadlineMs: inAnHour(),
  });

const endLink = (userId: string) =>
  userStore(deployment.table).removeUser(sellerId, userId, {
    removedAt: deployment.admin.now(),
    reason: 'buyer',
    refusedAt: Math.floor(deployment.clock() / 1000),
    deadlineMs: inAnHour(),
  });

/** Deletes the items whose keys match. */
const lose = async (pattern: RegExp): Promise<void> =>
  deleteAll(
    deployment.table,
    (await itemsIn(deployment.table)).filter(({ pk }) => pattern.test(String(pk))),
  );

const takeRestorePoint = async (): Promise<void> => {
  source = await deployment.newTable();
  await putAll(source, await itemsIn(deployment.table));
  deployment.clock.advance(1);
};

/** Compares, which changes nothing and counts what the copy then does. Returns what the copy counts and lists. */
const restored = async (options: Partial<RestoreOptions> = {}) => {
  const before = await itemsIn(deployment.table);
  const compared = await restore(deployment.admin, { source, isDry: true, ...options });
  expect(await itemsIn(deployment.table)).toEqual(before);
  const report = await restore(deployment.admin, { source, isDry: false, ...options });
  // An erasure beside it makes the copy undo something more.
  expect(report.counts).toMatchObject(compared.counts);
  const listed = [...report.listed].map(([reason, ids]) => [reason, [...ids.keys()]]);
  return { counts: report.counts, listed };
};

const userAt = (ordinal: number): Promise<StoredItem | undefined> =>
  getItem(deployment.table, userKey(sellerId, ordinal));

beforeEach(async () => {
  deployment = await newAdministration();
  ({ seller_id: sellerId } = await deployment.seller());
  await putAll(deployment.table, [
    { pk: 'BUYER#registered buyer', sk: 'BUYER', buyer_id: 'byr_1', registered_at: AT },
  ]);
});

describe('restore', () => {
  it('brings a lost user back at its place, with everything that finds it, and with an event', async () => {
    const id = await link('Sara', 'E-1');
    await link('Reza');
    await takeRestorePoint();
    const before = await userAt(1);
    await deleteAll(deployment.table, [userKey(sellerId, 1)]);
    await lose(/^(?:PERSON|LINKS|EXTERNAL)#.*(?:Sara|E-1)/);
    expect(await restored()).toEqual({ counts: { users: 1 }, listed: [] });
    expect(await userAt(1)).toEqual({ ...before, last_event: 3 });
    const events = await queryAll(deployment.table, { pk: eventsPartition(sellerId) });
    expect(events.at(-1)).toMatchObject({ type: 'user.linked', reason: 'restore', user_id: id });
    expect(faultsIn(await itemsIn(deployment.table))).toEqual([]);
  });

  it('restores nobody whom a tombstone, the index of removals or an event alone says to be removed', async () => {
    const ids = [await link('Sara'), await link('Reza'), await link('Omid')];
    await takeRestorePoint();
    for (const id of ids) {
      const removal = {
        removedAt: deployment.admin.now(),
        reason: 'seller' as const,
        deadlineMs: inAnHour(),
      };
      await userStore(deployment.table).removeUser(sellerId, id, removal);
    }
    const items = await itemsIn(deployment.table);
    const proofs = items.filter(({ pk }) => /^(?:REMOVED|REMOVALS)#/.test(String(pk)));
    const events = items.filter(({ pk }) => String(pk).startsWith('EVENTS#'));
    for (const kept of ['REMOVED', 'REMOVALS', 'EVENTS']) {
      await deleteAll(deployment.table, [...proofs, ...events]);
      await putAll(
        deployment.table,
        [...proofs, ...events].filter(({ pk }) => String(pk).startsWith(`${kept}#`)),
      );
      expect((await restored({ isDry: true })).counts.users).toBeUndefined();
    }
  });

  it('leaves no user and no buyer that was erased since, and removes with an event the users that the damage hid from the erasure', async () => {
    await link('Sara', 'E-1');
    await link('Reza');
    await putAll(deployment.table, [
      { pk: 'BUYER#phone-of-Sara', sk: 'BUYER', buyer_id: 'byr_2', registered_at: AT },
    ]);
    await takeRestorePoint();
    await deleteAll(deployment.table, [userKey(sellerId, 1)]);
    await lose(/^LINKS#phone-of-Reza/);
    await eraseBuyer(deployment.admin, new KeyedHash('phone-of-Sara', ['phone-of-Reza']));
    expect(await restored()).toEqual({
      counts: { 'users completed': 1, 'users erased again': 2 },
      listed: [],
    });
    expect([await userAt(1), await userAt(2)]).toEqual([undefined, undefined]);
    const events = await queryAll(deployment.table, { pk: eventsPartition(sellerId) });
    expect(events.map(({ type }) => type).slice(2)).not.toContain('user.linked');
    expect(faultsIn(await itemsIn(deployment.table))).toEqual([]);
    // Nothing that pointed to the lost user stands in the way of the next link.
    await expect(link('Sara', 'E-1')).resolves.toMatch(/^usr_/);
  });

  it('removes again what it has restored of a buyer who is erased beside it', async () => {
    await link('Sara');
    await putAll(deployment.table, [
      { pk: 'BUYER#phone-of-Sara', sk: 'BUYER', buyer_id: 'byr_2', registered_at: AT },
    ]);
    await takeRestorePoint();
    await lose(/^(?:USERS|PERSON|LINKS)#|^BUYER#phone-of-Sara/);
    const { client } = deployment.table;
    const send = client.send.bind(client) as (command: object) => Promise<unknown>;
    let isErased = false;
    Object.assign(client, {
      send: async (command: object) => {
        // The erasure finds nothing: the user is written after it.
        if (command instanceof TransactWriteCommand && !isErased) {
          isErased = true;
          await eraseBuyer(deployment.admin, new KeyedHash('phone-of-Sara'));
        }
        return send(command);
      },
    });
    expect((await restored()).counts).toEqual({
      users: 1,
      buyers: 1,
      'users erased again': 1,
      'copies erased': 1,
    });
    const items = await itemsIn(deployment.table);
    expect(items.filter(({ pk }) => /^(?:USERS|PERSON|LINKS|BUYER#phone)/.test(String(pk)))).toEqual([]);
    expect(faultsIn(items)).toEqual([]);
  });

  it('leaves what an erased buyer who registered again has: the registration, the user and the refusal', async () => {
    const buyer = { pk: 'BUYER#phone-of-Sara', sk: 'BUYER', buyer_id: 'byr_2' };
    await putAll(deployment.table, [{ ...buyer, registered_at: AT }]);
    await link('Sara');
    await takeRestorePoint();
    await eraseBuyer(deployment.admin, new KeyedHash('phone-of-Sara'));
    await putAll(deployment.table, [{ ...buyer, registered_at: deployment.admin.now() }]);
    await endLink(await link('Sara'));
    const { seller_id: other } = await deployment.seller('Other');
    const { user, ...newLink } = linkOf(other, 'Sara');
    await userStore(deployment.table).link({ ...newLink, user }, inAnHour());
    const before = await itemsIn(deployment.table);
    expect((await restored()).counts).toEqual({});
    const isAudit = ({ pk }: StoredItem) => String(pk).startsWith('AUDIT#');
    expect((await itemsIn(deployment.table)).filter((item) => !isAudit(item))).toEqual(
      before.filter((item) => !isAudit(item)),
    );
  });

  it('restores no user whose link its buyer has ended, by either item that holds the refusal, and completes the other', async () => {
    for (const [ordinal, kept] of [/^PERSON#/, /^LINKS#/].entries()) {
      const person = `Sara ${ordinal}`;
      const id = await link(person);
      await takeRestorePoint();
      await endLink(id);
      const refusals = (await itemsIn(deployment.table)).filter(({ refused_at }) => refused_at !== undefined);
      const lost = refusals.filter(
        ({ phone_hash, pk }) => String(phone_hash).includes(person) && !kept.test(String(pk)),
      );
      expect(lost).toHaveLength(1);
      await deleteAll(deployment.table, lost);
      await lose(/^(?:REMOVED|REMOVALS|EVENTS)#/);
      const { counts, listed } = await restored();
      expect(listed).toContainEqual(['person_taken', [id]]);
      expect(counts.users).toBeUndefined();
      if (String(kept) === String(/^LINKS#/)) expect(counts.refusals).toBe(1);
    }
  });

  it('brings back a lost refusal, unless the person was linked again or the buyer was erased since', async () => {
    for (const person of ['Sara', 'Reza', 'Omid']) await endLink(await link(person));
    await takeRestorePoint();
    const before = await itemsIn(source);
    await lose(/^(?:PERSON|LINKS)#/);
    await link('Reza');
    await eraseBuyer(deployment.admin, new KeyedHash('phone-of-Omid'));
    expect((await restored({ isDry: true })).counts).toEqual({ refusals: 1 });
    expect((await restored()).counts).toEqual({ refusals: 1 });
    const refusals = (items: readonly StoredItem[]) =>
      items.filter(({ refused_at }) => refused_at !== undefined);
    expect(refusals(await itemsIn(deployment.table))).toEqual(
      refusals(before).filter(({ phone_hash }) => phone_hash === 'phone-of-Sara'),
    );
    expect((await restored()).counts).toEqual({});
  });

  it('lists a user whose place, person or external id another user has now', async () => {
    const [first, second, third] = [await link('Sara'), await link('Reza', 'E-1'), await link('Omid')];
    await takeRestorePoint();
    await lose(/^(?:USERS|PERSON)#/);
    await putAll(deployment.table, [
      {
        ...(await getItem(source, userKey(sellerId, 3))),
        id: `${third.slice(0, -1)}${third.endsWith('A') ? 'B' : 'A'}`,
      },
    ]);
    await link('Sara', 'E-2');
    const other = await link('Maryam');
    await lose(/^EXTERNAL#.*E-1/);
    await correct(other, { external_id: 'E-1' });
    const { listed } = await restored();
    expect(listed).toEqual(
      expect.arrayContaining([
        ['ordinal_taken', [third]],
        ['person_taken', [first]],
        ['external_id_taken', [second]],
      ]),
    );
    expect(await userAt(2)).not.toHaveProperty('external_id');
    expect(await userAt(1)).toBeUndefined();
  });

  it('puts back a user that no event explains, and leaves and lists one that was corrected since', async () => {
    const [damaged, corrected] = [await link('Sara'), await link('Reza')];
    await takeRestorePoint();
    await correct(corrected, { display_name: 'Reza Karimi' });
    await putAll(deployment.table, [{ ...(await userAt(1)), display_name: 'overwritten' }]);
    expect(await restored()).toEqual({
      counts: { 'users put back': 1 },
      listed: [['changed_since', [corrected]]],
    });
    expect([await userAt(1), await userAt(2)]).toMatchObject([
      { id: damaged, display_name: 'Sara' },
      { display_name: 'Reza Karimi' },
    ]);
  });

  it('lists a user that was linked since and is missing, and raises counts that the damage has lowered', async () => {
    await link('Sara');
    await takeRestorePoint();
    const lost = await link('Reza');
    await deleteAll(deployment.table, [userKey(sellerId, 2)]);
    await putAll(
      deployment.table,
      (await itemsIn(source)).filter(({ sk }) => sk === 'SELLER'),
    );
    expect(await restored()).toEqual({ counts: { 'counts raised': 1 }, listed: [['lost', [lost]]] });
    await link('Omid');
    expect((await userAt(3))?.display_name).toBe('Omid');
  });

  it('lists a key that was overwritten with its past, and changes neither it nor one that has every change since', async () => {
    const keys = [await deployment.issued({ sellerId }), await deployment.issued({ sellerId })];
    const [older, current] = keys.map(({ key }) => key);
    await takeRestorePoint();
    for (const key of [older, current]) await renameKey(deployment.admin, String(key?.key_id), 'renamed');
    const items = await itemsIn(source);
    await putAll(
      deployment.table,
      items.filter(({ sk }) => sk === `KEY#${older?.key_id}`),
    );
    expect(await restored()).toEqual({ counts: {}, listed: [['key_older', [older?.key_id]]] });
    expect((await deployment.admin.keys.find(String(older?.key_id)))?.name).toBe('server');
  });

  it('fills an empty table: sellers with their past, users and buyers; keys are pending, and erased phones stay erased', async () => {
    const { key } = await deployment.issued({ sellerId });
    await link('Sara');
    const removed = await link('Reza');
    await link('Omid');
    const removal = { removedAt: deployment.admin.now(), reason: 'seller' as const, deadlineMs: inAnHour() };
    await userStore(deployment.table).removeUser(sellerId, removed, removal);
    await takeRestorePoint();
    await deleteAll(deployment.table, await itemsIn(deployment.table));
    const { counts, listed } = await restored({ erased: [new KeyedHash('phone-of-Omid')] });
    expect(counts).toMatchObject({ users: 1, 'users erased again': 1, buyers: 1, keys: 1 });
    expect(listed).toContainEqual(['key_pending', [key.key_id]]);
    expect([(await userAt(1))?.display_name, await userAt(2), await userAt(3)]).toEqual([
      'Sara',
      undefined,
      undefined,
    ]);
    expect(faultsIn(await itemsIn(deployment.table))).toEqual([]);
  });

  it('refuses a table without a known seller, and one older than 35 days unless the erased phones are named', async () => {
    await link('Sara');
    await takeRestorePoint();
    deployment.clock.advance(36 * 86_400);
    await expect(restored()).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('--erased'),
    });
    expect(await restored({ erased: [] })).toEqual({ counts: {}, listed: [] });
    const other = await newAdministration();
    await expect(restored({ source: other.table })).rejects.toMatchObject({ code: 'bad_input' });
  });
});
