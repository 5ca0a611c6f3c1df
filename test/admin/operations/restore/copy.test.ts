import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { copyMissing } from '#admin/operations/restore/copy.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { readRemovals } from '#admin/stores/restored-items.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import {
  buyerKey,
  endedLinkKey,
  eventKey,
  eventsPartition,
  personKey,
  sellerKey,
  tombstoneKey,
  userKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

/** Users, and what points to them. */
const ALL_OF_USERS = /^(?:USERS|PERSON|LINKS|EXTERNAL)#/;

/** Links a user, takes the restore point, and loses the user with what points to it. */
const linkAndLose = async (): Promise<string> => {
  const id = await live.link('Sara', 'E-1');
  await live.takeRestorePoint();
  await live.lose(ALL_OF_USERS);
  return id;
};

const newestEvent = async (): Promise<StoredItem | undefined> =>
  (await queryAll(live.table, { pk: eventsPartition(live.sellerId) })).at(-1);

/** Copies while the transactions of users end with these errors, one after the other. Returns how many were sent. */
const copiedBesideErrors = async (...errors: readonly Error[]): Promise<number> => {
  let sent = 0;
  const table = interceptedTable(live.table, async ({ name, input }, send) => {
    if (name !== 'TransactWriteCommand' || !JSON.stringify(input).includes('USERS#')) return send();
    sent += 1;
    const error = errors[sent - 1];
    if (error !== undefined) throw error;
    return send();
  });
  await copyMissing({ ...live.admin, table }, { source: live.source(), isDryRun: false });
  return sent;
};

describe('a copy', () => {
  it('puts a lost user back at its place with what points to it and with an event, and a second one finds nothing', async () => {
    const id = await live.link('Sara', 'E-1');
    await live.link('Reza');
    const source = await live.takeRestorePoint();
    await live.lose(/^(?:USERS|PERSON|LINKS|EXTERNAL)#.*(?:Sara|E-1)/);
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    expect(await live.dryRun()).toEqual([`user ${id} missing`]);
    expect(await live.copied()).toEqual([`user ${id} copied`]);
    expect(await live.userAt(1)).toEqual({
      ...(await getItem(source, userKey(live.sellerId, 1))),
      last_event: 3,
    });
    expect(await newestEvent()).toEqual({
      ...eventKey(live.sellerId, 3),
      type: 'user.linked',
      reason: 'restore',
      user_id: id,
      occurred_at: live.admin.now(),
      ttl: live.clock() / 1000 + 31 * 86_400,
    });
    expect(await live.faults()).toEqual([]);
    expect(await live.copied()).toEqual([]);
  });

  it('is recorded with its counts, and a dry run is not', async () => {
    await linkAndLose();
    await live.dryRun();
    await live.copied();
    const records = await live.admin.audit.list('deployment', { limit: 10 });
    const details = { from: live.source().name, seller: 'all' };
    expect(records.map(({ action, details: each }) => ({ action, details: each }))).toEqual(
      expect.arrayContaining([
        { action: 'restore.started', details },
        { action: 'restore.ended', details: { ...details, copied: 1 } },
      ]),
    );
    expect(records).toHaveLength(2);
  });

  it('puts back the users of one seller only, and no registrations, if it names one', async () => {
    const { seller_id } = await live.seller('Other');
    const id = await live.link('Sara');
    await live.link('Sara', undefined, seller_id);
    await live.takeRestorePoint();
    await live.lose(/^(?:USERS|PERSON|LINKS|BUYER)#?/);
    expect(await live.copied({ sellerId: live.sellerId })).toEqual([`user ${id} copied`]);
  });

  it('ends between two users when it is interrupted, and goes on from there', async () => {
    const ids = [await live.link('Sara'), await live.link('Reza'), await live.link('Omid')];
    await live.takeRestorePoint();
    await live.lose(ALL_OF_USERS);
    const ended = new AbortController();
    const abort = async () => ended.abort();
    await expect(live.copiedBeside('USERS', abort, { signal: ended.signal })).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(await live.copied()).toEqual(ids.slice(1).map((id) => `user ${id} copied`));
    expect(await live.faults()).toEqual([]);
  });

  it('writes again while DynamoDB throttles a transaction', async () => {
    const id = await linkAndLose();
    const CancellationReasons = [{ Code: 'None' }, { Code: 'ThrottlingError' }];
    const canceled = new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons });
    expect(await copiedBesideErrors(canceled)).toBe(2);
    expect((await live.userAt(1))?.id).toBe(id);
  });

  it('ends with the error of a write', async () => {
    await linkAndLose();
    // transactWrite sends a transaction again whose answer was lost.
    const broken = new Error('broken');
    await expect(copiedBesideErrors(broken, broken)).rejects.toThrow('broken');
  });

  it('counts the events since the restore point: with one missing, no user comes back', async () => {
    const [id] = [await live.link('Sara'), await live.link('Reza')];
    await live.takeRestorePoint();
    for (const person of ['Omid', 'Maryam']) await live.link(person);
    await deleteAll(live.table, [userKey(live.sellerId, 1), eventKey(live.sellerId, 3)]);
    expect(await live.copied()).toEqual([`user ${id} removal_unknown`]);
    // An event from before the restore point may be missing.
    await live.put({ ...eventKey(live.sellerId, 3), type: 'user.linked' });
    await deleteAll(live.table, [eventKey(live.sellerId, 1)]);
    expect(await live.dryRun()).toEqual([`user ${id} missing`]);
  });
});

it('an event that is written while the others are read does not hide a missing one', async () => {
  for (const person of ['Sara', 'Reza', 'Omid']) await live.link(person);
  const source = await live.newTable();
  await deleteAll(live.table, [eventKey(live.sellerId, 2)]);
  const table = interceptedTable(live.table, async ({ name }, send) => {
    if (name === 'QueryCommand') await live.link('Maryam');
    return send();
  });
  expect(await readRemovals(source, table, live.sellerId)).toMatchObject({ newest: 4, isComplete: false });
});

describe('beside traffic, a copy', () => {
  it('decides again if the person is linked between its read and its write: nobody is a user twice', async () => {
    const id = await linkAndLose();
    expect(await live.copiedBeside('USERS', () => live.link('Sara'))).toEqual([`user ${id} linked_again`]);
    expect(await newestEvent()).toMatchObject({ type: 'user.removed', reason: 'operator', user_id: id });
    expect(await live.faults()).toEqual([]);
  });

  it('puts a user back once if two copies run at once', async () => {
    const id = await linkAndLose();
    const second = () => copyMissing(live.admin, { source: live.source(), isDryRun: false });
    expect(await live.copiedBeside('USERS', second)).toEqual([]);
    expect((await live.userAt(1))?.id).toBe(id);
    expect(await live.faults()).toEqual([]);
  });

  it.each([
    ['puts nobody at a place that another copy closes', [], ['phone-of-Sara'], 'removed'],
    ['closes no place to which another copy returns its user', ['phone-of-Sara'], [], 'not_erased'],
  ])(
    '%s while its items are read: a read of several items is no snapshot',
    async (_title, own, others, result) => {
      const id = await linkAndLose();
      const options = (erased: readonly string[]) => ({
        ...{ source: live.source(), isDryRun: false },
        erased: erased.map((hash) => new KeyedHash(hash)),
      });
      let isRead = false;
      const table = interceptedTable(live.table, async ({ name, input }, send) => {
        if (isRead || name !== 'BatchGetCommand' || !JSON.stringify(input).includes('REMOVED#'))
          return send();
        isRead = true;
        const before = (await send()) as { Responses: Record<string, StoredItem[]> };
        await copyMissing(live.admin, options(others));
        const after = (await send()) as typeof before;
        const isSeller = ({ sk }: StoredItem): boolean => sk === 'SELLER';
        const [old = [], now = []] = [before, after].map(({ Responses }) => Responses[live.table.name]);
        const items = [...old.filter((item) => !isSeller(item)), ...now.filter(isSeller)];
        return { Responses: { [live.table.name]: items } };
      });
      const found = await copyMissing({ ...live.admin, table }, options(own));
      expect(found).toMatchObject([{ id, result }]);
      expect(await live.faults()).toEqual([]);
    },
  );

  it('removes a user again whose buyer is erased before it is written: the erasure did not find it', async () => {
    const id = await linkAndLose();
    expect(await live.copiedBeside('USERS', () => live.erase('Sara'))).toEqual([`user ${id} erased`]);
    expect(await live.userAt(1)).toBeUndefined();
    expect(await newestEvent()).toMatchObject({ type: 'user.removed', reason: 'erasure', user_id: id });
    expect(await live.faults()).toEqual([]);
  });

  it('lists a user whose buyer was erased beside a copy that was interrupted', async () => {
    const id = await linkAndLose();
    await live.copied();
    await live.admin.audit.write({
      ...live.admin.record({ action: 'buyer.erase_started' }),
      phone_hashes: ['phone-of-Sara'],
    });
    expect(await live.copied()).toEqual([`user ${id} not_erased`]);
  });

  it('lifts no refusal and adds none to a link that comes before its write', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.endLink(id);
    await live.lose(/^(?:PERSON|LINKS)#/);
    const found = await live.copiedBeside('PERSON', () => live.link('Sara'));
    expect(found).toEqual([`user ${id} removed`]);
    expect(await getItem(live.table, personKey(live.sellerId, 'hash-of-Sara'))).toHaveProperty('user_id');
  });

  it('adds no item to a refusal that is lifted before its write', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.endLink(id);
    await live.lose(/^LINKS#/);
    const person = personKey(live.sellerId, 'hash-of-Sara');
    const lift = () => live.put({ ...person, user_id: 'usr_later', phone_hash: 'phone-of-Sara' });
    expect(await live.copiedBeside('LINKS', lift)).toEqual([`user ${id} removed`]);
    expect(await queryAll(live.table, { pk: 'LINKS#phone-of-Sara' })).toEqual([]);
  });
});

describe('a user whose buyer has ended the link since', () => {
  it('stays away, and both items of the refusal come back by the event of the end', async () => {
    const id = await live.link('Sara');
    await live.takeRestorePoint();
    await live.endLink(id);
    const keys = [
      personKey(live.sellerId, 'hash-of-Sara'),
      endedLinkKey('phone-of-Sara', live.sellerId, 'hash-of-Sara'),
    ];
    const items = () => Promise.all(keys.map((key) => getItem(live.table, key)));
    const before = await items();
    expect(before).toMatchObject([{ refused_at: live.clock() / 1000 }, { refused_at: live.clock() / 1000 }]);
    await live.lose(/^(?:PERSON|LINKS)#/);
    expect(await live.copied()).toEqual([`user ${id} ended`]);
    expect(await items()).toEqual(before);
    expect(await live.faults()).toEqual([]);
    expect(await live.copied()).toEqual([`user ${id} ended`]);
  });
});

describe('the place of a user that never comes back', () => {
  /** Links three users, loses the first, and lets something happen. Returns the id of the first. */
  const loseFirst = async (happens: () => Promise<unknown>): Promise<string> => {
    const id = await live.link('Sara', 'E-1');
    for (const person of ['Reza', 'Omid']) await live.link(person);
    await live.takeRestorePoint();
    await deleteAll(live.table, [userKey(live.sellerId, 1)]);
    expect(await live.faults()).not.toEqual([]);
    await happens();
    return id;
  };

  it('becomes a tombstone if its buyer was erased, so that total, pages and events are right', async () => {
    const id = await loseFirst(() => live.erase('Sara'));
    expect(await live.copied()).toEqual([`user ${id} erased`]);
    expect(await getItem(live.table, tombstoneKey(live.sellerId, 1))).toMatchObject({ id });
    expect(await newestEvent()).toMatchObject({ type: 'user.removed', reason: 'erasure', user_id: id });
    expect(await live.faults()).toEqual([]);
    expect((await live.items()).filter((item) => JSON.stringify(item).includes('hash-of-Sara'))).toEqual([]);
    expect(await live.copied()).toEqual([`user ${id} removed`]);
  });

  it('is counted once although a removal comes first', async () => {
    const id = await loseFirst(() => live.erase('Sara'));
    const reza = (await live.users.listAfter(live.sellerId, 0, 9)).users[0]?.id ?? '';
    expect(await live.copiedBeside('REMOVED', () => live.remove(reza))).toEqual([`user ${id} erased`].sort());
    expect(await live.faults()).toEqual([]);
  });
});

describe('registrations', () => {
  const buyerOf = (person: string, registered_at = '2026-11-20T00:00:00.000Z'): StoredItem => ({
    ...buyerKey(`phone-of-${person}`),
    buyer_id: `byr_of_${person}`,
    registered_at,
  });
  const LATER = '2026-11-21T11:00:00.000Z';
  const buyersNow = async () =>
    (await live.items()).filter(({ pk }) => String(pk).startsWith('BUYER#phone-of'));
  const putBuyers = async (...persons: readonly string[]): Promise<void> => {
    await live.put(...persons.map((person) => buyerOf(person)));
    await live.takeRestorePoint();
  };

  it('come back, but those of buyers who were erased, or whose last record since is a removal', async () => {
    await putBuyers('Omid', 'Reza', 'Sara', 'Maryam');
    await live.erase('Sara');
    const record = async (action: string, person: string): Promise<void> => {
      live.clock.advance(1);
      const details = { buyer_id: `byr_of_${person}` };
      await live.admin.audit.write(live.admin.record({ action, details }));
    };
    for (const person of ['Reza', 'Omid']) await record('buyer.removed', person);
    await record('buyer.added', 'Omid');
    await live.lose(/^BUYER#phone/);
    const found = (state: string) => [
      `buyer byr_of_Maryam ${state}`,
      `buyer byr_of_Omid ${state}`,
      'buyer byr_of_Reza removed',
      'buyer byr_of_Sara erased',
    ];
    expect(await live.dryRun()).toEqual(found('missing'));
    expect(await live.copied()).toEqual(found('copied'));
    expect(await buyersNow()).toEqual([buyerOf('Maryam'), buyerOf('Omid')]);
  });

  it('stay as they are if the buyer registers again at the same moment', async () => {
    await putBuyers('Omid');
    await live.lose(/^BUYER#phone/);
    const again = buyerOf('Omid', LATER);
    expect(await live.copiedBeside('BUYER', () => live.put(again))).toEqual([]);
    expect(await buyersNow()).toEqual([again]);
  });

  it('go again if the buyer is erased before they are written, unless the buyer registers again', async () => {
    await putBuyers('Sara');
    await live.lose(/^BUYER#phone/);
    expect(await live.copiedBeside('BUYER', () => live.erase('Sara'))).toEqual(['buyer byr_of_Sara erased']);
    expect(await buyersNow()).toEqual([]);
    await live.put(buyerOf('Sara', LATER));
    expect(await live.copied()).toEqual([]);
    expect(await buyersNow()).toEqual([buyerOf('Sara', LATER)]);
  });
});

it('a registration stays if the buyer registers again after an erasure beside the copy', async () => {
  const buyer = { ...buyerKey('phone-of-Sara'), buyer_id: 'byr_of_Sara', registered_at: '2026-11-20' };
  await live.put(buyer);
  await live.takeRestorePoint();
  await live.lose(/^BUYER#phone/);
  const later = { ...buyer, registered_at: '2026-11-21' };
  const steps = [() => live.erase('Sara'), () => live.put(later)];
  const beside = async (write: string) => {
    if (write === 'write BUYER') await steps.shift()?.();
  };
  await live.beforeEachWrite(beside, () => live.copied());
  expect(steps).toEqual([]);
  expect(await getItem(live.table, buyerKey('phone-of-Sara'))).toEqual(later);
});

describe('a copy is refused', () => {
  const errorOf = (options?: Parameters<DamagedDeployment['copied']>[0]) =>
    live.copied(options).then(
      () => 'no error',
      ({ code, message }) => `${code}: ${message}`,
    );

  it('from a table without sellers, without the seller that is named, or with no seller in common', async () => {
    const source = await live.takeRestorePoint();
    const { name } = source;
    expect(await errorOf({ sellerId: 'sel_none' })).toBe(`bad_input: ${name} has no seller sel_none.`);
    await live.lose(/^SELLERS?\b/);
    expect(await errorOf()).toBe(`bad_input: ${name} and ${live.table.name} have no seller in common.`);
    await deleteAll(source, [sellerKey(live.sellerId)]);
    expect(await errorOf()).toBe(`bad_input: ${name} has no sellers.`);
  });

  it('from a table whose last audit record is 35 days old, unless the erased phones are named', async () => {
    const id = await linkAndLose();
    live.clock.advance(35 * 86_400 - 3600 - 60 - 1);
    expect(await live.dryRun()).toEqual([`user ${id} missing`]);
    live.clock.advance(1);
    expect(await errorOf()).toContain('bad_input: ');
    const erased = [new KeyedHash('newer-hash', ['phone-of-Sara'])];
    expect(await live.dryRun({ erased: [] })).toEqual([`user ${id} missing`]);
    expect(await live.dryRun({ erased })).toEqual([`user ${id} erased`]);
    const times = ['2020-01-01T00:00:00.000Z', live.admin.now()];
    await putAll(
      live.source(),
      times.map((at) => ({ pk: 'AUDIT#deployment', sk: at, at, actor: '', action: '' })),
    );
    expect(await live.dryRun()).toEqual([`user ${id} missing`]);
  });
});
