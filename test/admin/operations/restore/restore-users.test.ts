import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { restoreReport } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { readEvents } from '#admin/stores/restored-items.ts';
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
import type { StoredItem } from '#shared/table/writes.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';
import { faultsIn } from './invariants.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

/** Users, and what points to them. */
const ALL_OF_USERS = /^(?:USERS|PERSON|LINKS|EXTERNAL)#/;

/** A well-formed id of a place that no user has. */
const NO_PLACE = `usr_${'z'.repeat(22)}`;

const sellerNow = () => getItem(live.table, sellerKey(live.sellerId));

/** Links a user, takes the restore point, and loses the user with what points to it. */
const linkAndLose = async (): Promise<string> => {
  const id = await live.link('Sara');
  await live.takeRestorePoint();
  await live.lose(ALL_OF_USERS);
  return id;
};

/** All that tells of a removal, with its event. */
const REMOVALS = /^(?:REMOVED|REMOVALS|EVENTS)#/;

const removeAndLose = async (id: string, lost: RegExp): Promise<void> => {
  await live.remove(id);
  await live.lose(lost);
};

const endAndLose = async (id: string, lost: RegExp): Promise<void> => {
  await live.endLink(id);
  await live.lose(REMOVALS);
  await live.lose(lost);
};

const loseAndLink = async (person: string, externalId?: string): Promise<void> => {
  await live.lose(ALL_OF_USERS);
  await live.link(person, externalId);
};

const loseAndErase = async (lost: RegExp): Promise<void> => {
  await live.lose(lost);
  await live.erase('Sara');
};

const overwriteUser = async (wrong: StoredItem): Promise<void> => {
  await live.put({ ...(await live.userAt(1)), ...wrong });
};

/** An id that another user of the same place could have. */
const idBeside = (id: string): string => `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`;

const overwritePerson = async (): Promise<void> => {
  const person = await getItem(live.table, personKey(live.sellerId, 'hash-of-Sara'));
  await live.put({ ...person, phone_hash: 'phone-of-later' });
};

/** Copies while the transactions of users end with these errors, one after the other. Returns how many transactions were sent. */
const copiedBesideErrors = async (...errors: readonly Error[]): Promise<number> => {
  let sent = 0;
  const table = interceptedTable(live.table, async ({ name, input }, send) => {
    if (name !== 'TransactWriteCommand' || !JSON.stringify(input).includes('USERS#')) return send();
    sent += 1;
    const error = errors[sent - 1];
    if (error !== undefined) throw error;
    return send();
  });
  await restore({ ...live.admin, table }, { source: live.source(), isCopy: true, report: restoreReport() });
  return sent;
};

/** Expects that a compare and a copy find the same, and that no user is at the first place afterwards. */
const expectAway = async (...lines: readonly string[]): Promise<void> => {
  expect(await live.compared()).toEqual([...lines].sort());
  expect(await live.copied()).toEqual([...lines].sort());
  expect(await live.userAt(1)).toBeUndefined();
};

describe('a missing user', () => {
  it('comes back at its place with what points to it and with an event, and a second copy finds nothing', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.link('Reza');
    const source = await live.takeRestorePoint();
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    await live.lose(/^(?:PERSON|LINKS|EXTERNAL)#.*(?:Sara|E-1)/);
    expect(await live.compared()).toEqual([`user ${id} missing`]);
    expect(await live.copied()).toEqual([`user ${id} copied`]);
    expect(await live.userAt(1)).toEqual({
      ...(await getItem(source, userKey(live.sellerId, 1))),
      last_event: 3,
    });
    expect((await queryAll(live.table, { pk: eventsPartition(live.sellerId) })).slice(2)).toEqual([
      {
        ...eventKey(live.sellerId, 3),
        type: 'user.linked',
        reason: 'restore',
        user_id: id,
        occurred_at: live.admin.now(),
        ttl: live.clock() / 1000 + 31 * 86_400,
      },
    ]);
    expect(faultsIn(await live.items())).toEqual([]);
    expect(await live.copied()).toEqual([]);
  });

  it('comes back with 39 others in transactions of nineteen, beside a change of the seller', async () => {
    const ids: string[] = [];
    for (let person = 0; person < 41; person += 1)
      ids.push(await live.link(`person ${person}`, `E-${person}`));
    await live.takeRestorePoint();
    const [removed = ''] = ids.splice(5, 1);
    await live.remove(removed);
    await live.lose(ALL_OF_USERS);
    let transactions = 0;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (!write.includes('USERS')) return;
        transactions += 1;
        if (transactions === 2) await live.link('beside');
      },
      () => live.copied(),
    );
    // The second one meets the change and is sent again.
    expect(transactions).toBe(4);
    expect(found).toEqual([...ids.map((id) => `user ${id} copied`), `user ${removed} removed`].sort());
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it.each<[string, string, (id: string) => Promise<unknown>]>([
    [
      'a tombstone alone says that it was removed since',
      'removed',
      (id) => removeAndLose(id, /^(?:REMOVALS|EVENTS)#/),
    ],
    [
      'the index of removals alone says that it was removed since',
      'removed',
      (id) => removeAndLose(id, /^(?:REMOVED|EVENTS)#/),
    ],
    [
      'an event alone says that it was removed since',
      'removed',
      (id) => removeAndLose(id, /^(?:REMOVED|REMOVALS)#/),
    ],
    ['the erasure of its buyer has removed it', 'removed', () => live.erase('Sara')],
    [
      'an event since is missing and nothing says whether it was removed',
      'may_be_removed',
      (id) => removeAndLose(id, REMOVALS),
    ],
    [
      'the item of its person alone says that its buyer has ended the link',
      'refused',
      (id) => endAndLose(id, /^LINKS#/),
    ],
    [
      'the item of its phone alone says that its buyer has ended the link',
      'refused',
      (id) => endAndLose(id, /^PERSON#/),
    ],
    ['its person is linked again', 'taken', () => loseAndLink('Sara')],
    ['another user has its external id', 'taken', () => loseAndLink('Reza', 'E-1')],
    ['what points to it tells of another state of it', 'differs', () => overwritePerson()],
    ['its buyer was erased since', 'erased', () => loseAndErase(ALL_OF_USERS)],
    [
      'its buyer was erased since and something still points to it',
      'not_erased',
      () => loseAndErase(/^(?:USERS|LINKS)#/),
    ],
  ])('stays away if %s', async (_name, state, damage) => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await damage(id);
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    await expectAway(`user ${id} ${state}`);
  });

  it('stays away if its buyer was erased since by a name whose hash is an older one', async () => {
    const id = await live.link('Reza');
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    const options = { erased: [new KeyedHash('newer-hash', ['phone-of-Reza'])] };
    expect(await live.compared(options)).toEqual([`user ${id} erased`]);
    expect(await live.copied(options)).toEqual([`user ${id} erased`]);
  });

  it('comes back beside what points to it if every event since is there', async () => {
    const [id, other] = [await live.link('Sara', 'E-1'), await live.link('Reza')];
    await live.takeRestorePoint();
    await live.correct(other, { display_name: 'Reza Karimi' });
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    expect(await live.copied()).toEqual([`user ${id} copied`]);
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('comes back as it was before a correction that is lost, and is listed', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.correct(id, { display_name: 'Sara Ahmadi' });
    await live.lose(/^USERS#/);
    expect(await live.copied()).toEqual([`user ${id} change_lost`]);
    expect(await live.userAt(1)).toMatchObject({ display_name: 'Sara', last_event: 3 });
  });

  it('stays away if a user that exists has its external id, although the item of that is missing too', async () => {
    const [lost, other] = [await live.link('Sara', 'E-1'), await live.link('Reza')];
    await live.takeRestorePoint();
    await live.correct(lost, { external_id: null });
    await live.correct(other, { external_id: 'E-1' });
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    await live.lose(/^EXTERNAL#/);
    expect(await live.copied()).toEqual([`user ${lost} taken`, `user ${other} copied`].sort());
    expect(await getItem(live.table, externalIdKey(live.sellerId, 'E-1'))).toMatchObject({ user_id: other });
  });

  it('stays away if its person is linked again between the read and the write', async () => {
    const id = await linkAndLose();
    expect(await live.copiedBeside('USERS', () => live.link('Sara'))).toEqual([`user ${id} taken`]);
    expect(await live.userAt(1)).toBeUndefined();
  });

  it('is listed as not erased if its buyer is erased beside the copy, until the buyer is erased again', async () => {
    const id = await linkAndLose();
    // The erasure finds nothing: the user is written after it.
    const found = await live.copiedBeside('USERS', () => live.erase('Sara'));
    expect(found).toEqual([`user ${id} copied`, `user ${id} not_erased`]);
    expect(await live.compared()).toEqual([`user ${id} not_erased`]);
    await live.erase('Sara');
    expect(await live.compared()).toEqual([`user ${id} removed`]);
  });

  it('is listed as not erased by the next copy if its buyer was erased beside one that was interrupted', async () => {
    const id = await linkAndLose();
    const ended = new AbortController();
    const copying = live.beforeEachWrite(
      async (write) => {
        if (!write.includes('USERS')) return;
        await live.erase('Sara');
        ended.abort();
      },
      () => live.copied({ signal: ended.signal }),
    );
    await expect(copying).rejects.toMatchObject({ code: 'interrupted' });
    expect((await live.userAt(1))?.id).toBe(id);
    expect(await live.copied()).toEqual([`user ${id} not_erased`]);
  });

  it('stays away if its id is not one of its place', async () => {
    await live.link('Sara');
    const source = await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    await putAll(source, [{ ...(await getItem(source, userKey(live.sellerId, 1))), id: NO_PLACE }]);
    await expectAway(`user ${NO_PLACE} differs`);
  });

  it('stays away, as does every user of its seller, while the counts of that are low', async () => {
    const [id] = [await live.link('Sara'), await live.link('Reza')];
    await live.takeRestorePoint();
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    await live.put({ ...(await sellerNow()), event_count: 1 });
    await expectAway(`seller ${live.sellerId} counts_low`, `user ${id} counts_low`);
    await live.put({ ...(await sellerNow()), event_count: 2 });
    expect(await live.copied()).toEqual([`user ${id} copied`]);
  });

  it('stays away if the restored table lacks its seller', async () => {
    const { seller_id: other } = await live.seller('Other');
    const id = await live.link('Sara', undefined, other);
    const source = await live.takeRestorePoint();
    await deleteAll(source, [sellerKey(other)]);
    await live.lose(ALL_OF_USERS);
    await expectAway(`user ${id} seller_unknown`);
  });

  it('is decided again if its seller has changed since before it was read', async () => {
    const id = await live.link('Sara');
    const source = await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    const sent: string[] = [];
    const table = interceptedTable(live.table, async ({ name, input }, send) => {
      if (!/^(?:BatchGet|TransactWrite)/.test(name) || !JSON.stringify(input).includes('USERS#'))
        return send();
      sent.push(name);
      const result = await send();
      if (sent.length === 1) await live.link('Reza');
      return result;
    });
    await restore({ ...live.admin, table }, { source, isCopy: true, report: restoreReport() });
    const once = ['BatchGetCommand', 'TransactWriteCommand'];
    expect(sent).toEqual([...once, ...once]);
    expect((await live.userAt(1))?.id).toBe(id);
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('is put again while DynamoDB throttles the transaction', async () => {
    const id = await linkAndLose();
    const CancellationReasons = [{ Code: 'None' }, { Code: 'ThrottlingError' }];
    const canceled = new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons });
    expect(await copiedBesideErrors(canceled, canceled)).toBe(3);
    expect((await live.userAt(1))?.id).toBe(id);
  });

  it('ends the copy with the error of its write, which the other parts do not hide', async () => {
    await linkAndLose();
    // transactWrite sends a transaction again whose answer was lost.
    const broken = new Error('broken');
    await expect(copiedBesideErrors(broken, broken)).rejects.toThrow('broken');
  });
});

describe('the events since the restore point', () => {
  it('are complete if none up to the last number is missing, however many came after that', async () => {
    for (const person of ['Sara', 'Reza', 'Omid', 'Maryam']) await live.link(person);
    await deleteAll(live.table, [eventKey(live.sellerId, 2)]);
    const isComplete = async (after: number, until: number) =>
      (await readEvents(live.table, live.sellerId, { after, until })).isComplete;
    const gaps = [isComplete(0, 3), isComplete(1, 2)];
    const wholes = [isComplete(0, 1), isComplete(2, 4), isComplete(4, 4)];
    expect(await Promise.all([...gaps, ...wholes])).toEqual([false, false, true, true, true]);
  });
});

describe('a user that exists', () => {
  it('gets back what points to it now, without an event', async () => {
    const [first, second] = [await live.link('Sara', 'E-1'), await live.link('Reza', 'E-2')];
    await live.takeRestorePoint();
    await live.correct(second, { external_id: 'E-3' });
    const [before, seller] = [await live.items(), await sellerNow()];
    await live.lose(/^(?:PERSON|LINKS|EXTERNAL)#/);
    const found = (state: string) => [first, second].map((id) => `user ${id} ${state}`).sort();
    expect(await live.compared()).toEqual(found('missing'));
    expect(await live.copied()).toEqual(found('copied'));
    const withoutAudit = (items: typeof before) => items.filter(({ pk }) => !String(pk).startsWith('AUDIT#'));
    expect(withoutAudit(await live.items())).toEqual(withoutAudit(before));
    expect(await sellerNow()).toEqual(seller);
  });

  it('gets nothing back that belongs to its state before a change at the same moment', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.takeRestorePoint();
    await live.lose(/^EXTERNAL#/);
    expect(await live.copiedBeside('EXTERNAL', () => live.correct(id, { external_id: 'E-2' }))).toEqual([]);
    expect(await getItem(live.table, externalIdKey(live.sellerId, 'E-1'))).toBeUndefined();
    expect(faultsIn(await live.items())).toEqual([]);
  });

  it('is not listed if a later event explains how it differs', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.correct(id, { display_name: 'Sara Ahmadi' });
    expect(await live.copied()).toEqual([]);
  });

  it('is not listed if it has another phone since, and only the former one was erased', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    const person = await getItem(live.table, personKey(live.sellerId, 'hash-of-Sara'));
    await live.put(
      { ...(await live.userAt(1)), phone_hash: 'phone-of-later', last_event: 2 },
      { ...person, phone_hash: 'phone-of-later' },
      { ...phoneLinkKey('phone-of-later', live.sellerId, 1), user_id: id },
    );
    expect(await live.copied({ erased: [new KeyedHash('phone-of-Sara')] })).toEqual([]);
  });

  it.each<[string, string, (id: string) => Promise<unknown>]>([
    ['differs', 'it was overwritten', () => overwriteUser({ display_name: 'overwritten' })],
    ['differs', 'the number of its event is lower', () => overwriteUser({ last_event: 0 })],
    ['differs', 'its id is of no place', () => overwriteUser({ id: NO_PLACE })],
    ['differs', 'what points to it belongs to another user', () => overwritePerson()],
    ['taken', 'another user has its place', (id) => overwriteUser({ id: idBeside(id) })],
    ['not_erased', 'the erasure of its buyer has not found it', () => loseAndErase(/^LINKS#/)],
  ])('is listed as %s and stays if %s', async (state, _name, damage) => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await damage(id);
    expect(await live.compared()).toEqual([`user ${id} ${state}`]);
    expect(await live.copied()).toEqual([`user ${id} ${state}`]);
  });
});
