import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { restore } from '#admin/operations/restore/restore.ts';
import { restoreReport } from '#admin/operations/restore/restoring.ts';
import { deleteAll } from '#admin/stores/batches.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import {
  eventKey,
  eventsPartition,
  externalIdKey,
  personKey,
  phoneLinkKey,
  sellerKey,
  userKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';
import { faultsIn } from './invariants.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

const eventsOf = () => queryAll(live.table, { pk: eventsPartition(live.sellerId) });

/** What finds the users of a test, and the users. */
const ALL_OF_USERS = /^(?:USERS|PERSON|LINKS|EXTERNAL)#/;

describe('a missing user', () => {
  it('comes back at its place, with everything that finds it, and with an event', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.link('Reza');
    const source = await live.takeRestorePoint();
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    await live.lose(/^(?:PERSON|LINKS|EXTERNAL)#.*(?:Sara|E-1)/);
    expect(await live.compared()).toEqual([`user ${id} missing`]);
    expect(await live.copied()).toEqual([`user ${id} copied`]);
    const before = await getItem(source, userKey(live.sellerId, 1));
    expect(await live.userAt(1)).toEqual({ ...before, last_event: 3 });
    expect((await eventsOf()).at(-1)).toEqual({
      ...eventKey(live.sellerId, 3),
      type: 'user.linked',
      reason: 'restore',
      user_id: id,
      occurred_at: live.admin.now(),
      ttl: live.clock() / 1000 + 31 * 86_400,
    });
    expect(faultsIn(await live.items())).toEqual([]);
    expect(await live.copied()).toEqual([]);
  });

  it('comes back beside what finds it if only that is left', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.lose(/^USERS#/);
    expect(await live.copied()).toEqual([`user ${id} copied`]);
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('comes back with forty others in transactions of nineteen, beside a change of the seller', async () => {
    const ids: string[] = [];
    for (let person = 0; person < 41; person += 1)
      ids.push(await live.link(`person ${person}`, `E-${person}`));
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    let transactions = 0;
    await live.beforeEachWrite(
      async (write) => {
        if (!write.includes('USERS')) return;
        transactions += 1;
        if (transactions === 2) await live.link('beside');
      },
      () => live.copied(),
    );
    // The second one meets the change and is sent again.
    expect(transactions).toBe(4);
    expect((await queryAll(live.table, { pk: userKey(live.sellerId, 1).pk })).map(({ id }) => id)).toEqual(
      expect.arrayContaining(ids),
    );
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it.each([
    ['a tombstone', 'REMOVED'],
    ['the index of removals', 'REMOVALS'],
    ['an event', 'EVENTS'],
  ] as const)('stays away if %s alone says that it was removed since', async (_name, kept) => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.remove(id);
    const proofs = (await live.items()).filter(({ pk }) => /^(?:REMOVED|REMOVALS|EVENTS)#/.test(String(pk)));
    await deleteAll(
      live.table,
      proofs.filter(({ pk }) => !String(pk).startsWith(`${kept}#`)),
    );
    expect(await live.compared()).toEqual([`user ${id} removed`]);
    expect(await live.copied()).toEqual([`user ${id} removed`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('stays away and is listed if its removal may be forgotten: an event since is missing, and no tombstone is left', async () => {
    const [removed, lost] = [await live.link('Sara'), await live.link('Reza')];
    await live.takeRestorePoint();
    await live.remove(removed);
    await live.lose(/^(?:USERS|REMOVED|REMOVALS)#/);
    await deleteAll(live.table, [eventKey(live.sellerId, 3)]);
    expect(await live.copied()).toEqual(
      [`user ${lost} may_be_removed`, `user ${removed} may_be_removed`].sort(),
    );
    expect([await live.userAt(1), await live.userAt(2)]).toEqual([undefined, undefined]);
  });

  it('is listed if its removal may be forgotten, although as many events are there as the seller has counted', async () => {
    const [removed, lost] = [await live.link('Sara'), await live.link('Reza')];
    await live.takeRestorePoint();
    await live.remove(removed);
    for (const display_name of ['Reza K.', 'Reza Karimi']) await live.correct(lost, { display_name });
    await live.lose(/^(?:USERS|REMOVED|REMOVALS)#/);
    await deleteAll(live.table, [eventKey(live.sellerId, 3)]);
    await live.put({ ...(await getItem(live.table, sellerKey(live.sellerId))), event_count: 4 });
    expect(await live.compared()).toEqual(
      [
        `seller ${live.sellerId} counts_low`,
        `user ${lost} may_be_removed`,
        `user ${removed} may_be_removed`,
      ].sort(),
    );
  });

  it('comes back as it was before a correction that is lost, and is listed', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.correct(id, { display_name: 'Sara Ahmadi' });
    await live.lose(/^USERS#/);
    expect(await live.copied()).toEqual([`user ${id} copied`, `user ${id} correction_lost`]);
    expect(await live.userAt(1)).toMatchObject({ display_name: 'Sara', last_event: 3 });
  });

  it('stays away and is listed if its person is linked again', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    await live.link('Sara');
    expect(await live.compared()).toEqual([`user ${id} person_taken`]);
    expect(await live.copied()).toEqual([`user ${id} person_taken`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('stays away and is listed if its person is linked again between the read and the write', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    let isLinked = false;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (isLinked || !write.includes('USERS')) return;
        isLinked = true;
        await live.link('Sara');
      },
      () => live.copied(),
    );
    expect(found).toEqual([`user ${id} person_taken`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('comes back without its external id, and is listed, if another user has that', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    await live.link('Reza', 'E-1');
    expect(await live.copied()).toEqual([`user ${id} copied`, `user ${id} external_id_taken`]);
    expect(await live.userAt(1)).not.toHaveProperty('external_id');
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('stays away and is listed if an item that finds it tells of another state of it', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(/^USERS#/);
    const person = await getItem(live.table, personKey(live.sellerId, 'hash-of-Sara'));
    await live.put({ ...person, phone_hash: 'phone-of-later' });
    expect(await live.copied()).toEqual([`user ${id} pointers_differ`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it.each([
    ['person item', /^LINKS#/],
    ['phone', /^PERSON#/],
  ] as const)('stays away if its buyer has ended the link, by the %s alone', async (_name, lost) => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.endLink(id);
    await live.lose(lost);
    await live.lose(/^(?:REMOVED|REMOVALS|EVENTS)#/);
    expect(await live.copied()).toEqual([`user ${id} refused`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('stays away if its buyer was erased since, and counts, pages and events tell of it', async () => {
    const [erased, named] = [await live.link('Sara', 'E-1'), await live.link('Reza')];
    await live.link('Omid');
    await live.takeRestorePoint();
    await deleteAll(live.table, [userKey(live.sellerId, 1), userKey(live.sellerId, 2)]);
    await live.erase('Sara');
    const options = { erased: [new KeyedHash('phone-of-Reza')] };
    const found = [`user ${erased} erased`, `user ${named} erased`].sort();
    expect(await live.compared(options)).toEqual(found);
    expect(await live.copiedWithErasures(options)).toEqual(found);
    expect((await eventsOf()).slice(3).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'user.removed erasure',
      'user.removed erasure',
    ]);
    const items = await live.items();
    expect(
      items.filter(({ pk }) => /^(?:USERS|PERSON|EXTERNAL)#.*(?:Sara|Reza|E-1)/.test(String(pk))),
    ).toEqual([]);
    expect(faultsIn(items)).toEqual([]);
    // Nothing that pointed to the lost user stands in the way of the next link.
    await expect(live.link('Sara', 'E-1')).resolves.toMatch(/^usr_/);
  });

  it('is counted as removed once if its buyer was erased since and an event alone tells of it', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.erase('Sara');
    await live.lose(/^(?:REMOVED|REMOVALS)#/);
    const seller = await getItem(live.table, sellerKey(live.sellerId));
    expect(await live.copied()).toEqual([`user ${id} erased`]);
    expect(await getItem(live.table, sellerKey(live.sellerId))).toEqual(seller);
  });

  it('is gone again after the copy if its buyer is erased beside it', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    let isErased = false;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (isErased || !write.includes('USERS')) return;
        isErased = true;
        // The erasure finds nothing: the user is written after it.
        await live.erase('Sara');
      },
      () => live.copiedWithErasures(),
    );
    expect(found).toEqual([`user ${id} copied`, `user ${id} erased`]);
    const items = await live.items();
    expect(items.filter(({ pk }) => ALL_OF_USERS.test(String(pk)))).toEqual([]);
    expect(faultsIn(items)).toEqual([]);
  });

  it('is gone after the next copy if its buyer was erased beside one that was interrupted', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    let writes = 0;
    const interrupted = live.beforeEachWrite(
      async () => {
        writes += 1;
        // The record of the start is written, then the user, after its erasure.
        live.clock.advance(1);
        if (writes === 2) await live.erase('Sara');
        if (writes > 2) throw new Error('interrupted');
      },
      () => live.copiedWithErasures(),
    );
    await expect(interrupted).rejects.toThrow('interrupted');
    expect((await live.userAt(1))?.id).toBe(id);
    expect(await live.copiedWithErasures()).toEqual([`user ${id} erased`, `user ${id} erased_but_present`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('of a restored table whose id is damaged stays away and is listed', async () => {
    await live.link('Sara');
    const source = await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    const user = await getItem(source, userKey(live.sellerId, 1));
    const id = `usr_${'z'.repeat(22)}`;
    await source.client.send(
      new TransactWriteCommand({
        TransactItems: [{ Put: { TableName: source.name, Item: { ...user, id } } }],
      }),
    );
    expect(await live.copied()).toEqual([`user ${id} differs`]);
  });

  it('is put again while DynamoDB throttles the transaction', async () => {
    const id = await live.link('Sara');
    const source = await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    const canceled = new TransactionCanceledException({
      message: 'canceled',
      $metadata: {},
      CancellationReasons: [{ Code: 'None' }, { Code: 'ThrottlingError' }],
    });
    let throttled = 0;
    const table = interceptedTable(live.table, async ({ name }, send) => {
      if (name !== 'TransactWriteCommand' || throttled === 2) return send();
      throttled += 1;
      throw canceled;
    });
    await restore({ ...live.admin, table }, { source, isCopy: true, report: restoreReport() });
    expect(throttled).toBe(2);
    expect((await live.userAt(1))?.id).toBe(id);
  });
});

describe('a user that exists', () => {
  it('gets what finds it back without an event, and only that', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    const [before, user] = [await live.items(), await live.userAt(1)];
    await live.lose(/^(?:PERSON|LINKS|EXTERNAL)#/);
    expect(await live.compared()).toEqual([`user ${id} incomplete`]);
    expect(await live.copied()).toEqual([`user ${id} completed`]);
    expect(await live.userAt(1)).toEqual(user);
    const withoutAudit = (await live.items()).filter(({ pk }) => !String(pk).startsWith('AUDIT#'));
    expect(withoutAudit).toEqual(before.filter(({ pk }) => !String(pk).startsWith('AUDIT#')));
  });

  it('gets what finds it after a correction since, not what found it before', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.correct(id, { external_id: 'E-2' });
    await live.lose(/^EXTERNAL#/);
    expect(await live.copied()).toEqual([`user ${id} changed`, `user ${id} completed`]);
    expect(await getItem(live.table, externalIdKey(live.sellerId, 'E-1'))).toBeUndefined();
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('is not listed although it was corrected between the reads of it and of what finds it', async () => {
    const id = await live.link('Sara', 'E-1');
    const source = await live.takeRestorePoint();
    let isCorrected = false;
    const table = interceptedTable(live.table, async ({ name, input }, send) => {
      const isOfPointers = JSON.stringify(input).includes('EXTERNAL#');
      if (name === 'BatchGetCommand' && isOfPointers && !isCorrected) {
        isCorrected = true;
        await live.correct(id, { external_id: 'E-2' });
      }
      return send();
    });
    const report = restoreReport();
    await restore({ ...live.admin, table }, { source, isCopy: false, report });
    expect(isCorrected).toBe(true);
    expect(report.counts()).toEqual([{ seller_id: live.sellerId, kind: 'user', state: 'changed', count: 1 }]);
  });

  it('gets nothing back that belongs to its state before a change at the same moment', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.lose(/^EXTERNAL#/);
    let isChanged = false;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (isChanged || !write.includes('EXTERNAL')) return;
        isChanged = true;
        await live.correct(id, { external_id: 'E-2' });
      },
      () => live.copiedWithErasures(),
    );
    expect(found).toEqual([`user ${id} incomplete`]);
    expect(await getItem(live.table, externalIdKey(live.sellerId, 'E-1'))).toBeUndefined();
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('is listed and stays as it is if it was changed since, overwritten, or replaced by another user', async () => {
    const ids: string[] = [];
    for (const person of ['Sara', 'Reza', 'Omid', 'Maryam']) ids.push(await live.link(person));
    const [changed = '', overwritten = '', replaced = '', older = ''] = ids;
    await live.takeRestorePoint();
    await live.correct(changed, { display_name: 'Sara Ahmadi' });
    const other = `${replaced.slice(0, -1)}${replaced.endsWith('A') ? 'B' : 'A'}`;
    await live.put(
      { ...(await live.userAt(2)), display_name: 'overwritten' },
      { ...(await live.userAt(3)), id: other },
      { ...(await live.userAt(4)), last_event: 1 },
    );
    const found = [
      `user ${changed} changed`,
      `user ${overwritten} differs`,
      `user ${replaced} place_taken`,
      `user ${older} differs`,
    ].sort();
    expect(await live.compared()).toEqual(found);
    expect(await live.copied()).toEqual(found);
  });

  it('is listed if an item that finds it points to another user, and if its id is damaged', async () => {
    const [first, second] = [await live.link('Sara'), await live.link('Reza')];
    await live.takeRestorePoint();
    await live.put(
      { ...phoneLinkKey('phone-of-Sara', live.sellerId, 1), user_id: second },
      { ...(await live.userAt(2)), id: `usr_${'z'.repeat(22)}` },
    );
    expect(await live.copied()).toEqual([`user ${first} pointers_differ`, `user ${second} differs`].sort());
  });

  it('is listed if the erasure of its buyer has not found it', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.lose(/^LINKS#/);
    await live.erase('Sara');
    expect(await live.compared()).toEqual([`user ${id} erased_but_present`]);
    expect(await live.copied()).toEqual([`user ${id} erased_but_present`]);
  });
});
