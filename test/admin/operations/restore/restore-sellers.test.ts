import { restoreReport } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { deleteAll } from '#admin/stores/batches.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { SELLERS_PARTITION, sellerKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';
import { faultsIn } from './invariants.ts';

const newDeployment = useDamagedDeployment();

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

const sellerNow = () => getItem(live.table, sellerKey(live.sellerId));

const ofSeller = (...states: readonly string[]) => states.map((state) => `seller ${live.sellerId} ${state}`);

describe('a missing seller', () => {
  it('fills an empty table with its users, what was removed before, buyers, and pending keys', async () => {
    const { key, seller: keySeller } = await live.issued({ sellerId: live.sellerId });
    const [first, removed, third] = [
      await live.link('Sara'),
      await live.link('Reza'),
      await live.link('Omid'),
    ];
    await live.remove(removed);
    const removalsNow = async () =>
      (await live.items()).filter(({ pk }) => /^(?:REMOVED|REMOVALS)#/.test(String(pk)));
    const removals = await removalsNow();
    const source = await live.takeRestorePoint();
    await deleteAll(live.table, await live.items());
    const found = await live.copied({ erased: [new KeyedHash('phone-of-Omid')] });
    expect(found).toEqual(
      [
        'buyer byr_1 copied',
        `key ${key.key_id} pending`,
        ...ofSeller('copied', 'removals_unknown'),
        `seller ${keySeller.seller_id} copied`,
        `seller ${keySeller.seller_id} removals_unknown`,
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
      // Four before, then one link.
      event_count: 1_000_005,
    });
    expect(await removalsNow()).toEqual(removals);
    expect(removals).toHaveLength(3);
    expect((await live.admin.sellers.list()).map(({ seller_id }) => seller_id)).toContain(live.sellerId);
    // The place of the erased user stays open: its seller counts it.
    expect(faultsIn(await live.items())).toEqual(['3 - 1 is not 1 users']);
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
    // The start, two sellers, a buyer, the users, a refusal, a key, and the end.
    expect(writes).toBe(8);
    for (let interrupted = 0; interrupted < writes; interrupted += 1) {
      await deleteAll(live.table, await live.items());
      await live.interruptedBefore(interrupted, () => live.copied());
      expect(await live.copied()).toEqual(expect.arrayContaining(ofSeller('removals_unknown')));
      expect(await content()).toEqual(whole);
    }
  });

  it('gives no user the place of one that exists or was removed since, nor an event the number of another', async () => {
    const first = await live.link('Sara');
    await live.takeRestorePoint();
    const [second, third] = [await live.link('Reza'), await live.link('Omid')];
    await live.remove(second);
    await live.remove(third);
    await live.lose(/^SELLER#|^USERS#/);
    expect(await live.compared()).toEqual(
      [...ofSeller('missing', 'removals_unknown'), `user ${first} missing`].sort(),
    );
    await live.copied();
    // Five events are there, and one of the restored user.
    expect(await sellerNow()).toMatchObject({ user_count: 3, removed_count: 2, event_count: 1_000_006 });
    expect(faultsIn(await live.items())).toEqual([]);
    await live.link('Maryam');
    expect((await live.userAt(4))?.display_name).toBe('Maryam');
  });

  it('comes back suspended if it was suspended since', async () => {
    await live.takeRestorePoint();
    await setSellerStatus(live.admin, live.sellerId, 'suspended');
    await live.lose(/^SELLER#/);
    await live.copied();
    expect(await sellerNow()).toMatchObject({ status: 'suspended' });
  });
});

describe('a seller that exists', () => {
  it.each([
    ['users', { user_count: 1 }],
    ['removals', { removed_count: 0 }],
    ['events', { event_count: 2 }],
    ['anything', { user_count: undefined, event_count: 'wrong' }],
  ])('is listed and stays if it counts fewer %s than there are', async (_name, wrong) => {
    await live.link('Sara');
    await live.remove(await live.link('Reza'));
    await live.takeRestorePoint();
    const overwritten = { ...(await sellerNow()), ...wrong };
    await live.put(overwritten);
    expect(await live.compared()).toEqual(ofSeller('counts_low'));
    expect(await live.copied()).toEqual(ofSeller('counts_low'));
    expect(await sellerNow()).toEqual(overwritten);
  });

  it('is listed if it was overwritten, and not if it was changed since', async () => {
    const { seller_id: other } = await live.seller('Other');
    await live.takeRestorePoint();
    await live.put({ ...(await sellerNow()), name: 'overwritten' });
    await setSellerStatus(live.admin, other, 'suspended');
    expect(await live.copied()).toEqual(ofSeller('differs'));
  });

  it('is listed if an item is missing that tells which of its users were removed', async () => {
    await live.remove(await live.link('Sara'));
    await live.takeRestorePoint();
    await live.lose(/^REMOVALS#/);
    expect(await live.copied()).toEqual(ofSeller('differs'));
    expect((await live.items()).filter(({ pk }) => /^REMOVALS#/.test(String(pk)))).toEqual([]);
  });

  it('gets its entry in the list of sellers back', async () => {
    const { seller_id: other } = await live.seller('Other');
    await live.takeRestorePoint();
    await live.lose(new RegExp(`^${SELLERS_PARTITION}$`));
    const found = (state: string) => [`seller ${live.sellerId} ${state}`, `seller ${other} ${state}`].sort();
    expect(await live.compared()).toEqual(found('missing'));
    expect(await live.copied()).toEqual(found('copied'));
    expect((await live.admin.sellers.list()).map(({ seller_id }) => seller_id).sort()).toEqual(
      [live.sellerId, other].sort(),
    );
  });
});

describe('a restored table', () => {
  it('is refused if it has no seller, not the named one, or none of the live table', async () => {
    await live.takeRestorePoint();
    const [other, empty] = [await newDeployment(), await live.newTable()];
    const refused = (message: string) => ({ code: 'bad_input', message: expect.stringContaining(message) });
    await expect(live.copied({ source: empty })).rejects.toMatchObject(refused('has no sellers'));
    await expect(live.copied({ sellerId: 'sel_other' })).rejects.toMatchObject(
      refused('has no seller sel_other'),
    );
    await expect(live.copied({ source: other.table })).rejects.toMatchObject(refused('no seller in common'));
  });

  it('is refused if its audit is older than 35 days, unless the erased phones are named', async () => {
    await live.takeRestorePoint();
    live.clock.advance(35 * 86_400);
    await expect(live.compared()).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('--erased'),
    });
    expect(await live.copied({ erased: [] })).toEqual([]);
  });

  it('is read to the end of a step after an interrupt, and no further', async () => {
    for (let person = 0; person < 20; person += 1) await live.link(`person ${person}`);
    const source = await live.takeRestorePoint();
    const ended = new AbortController();
    let reads = 0;
    const table = interceptedTable(live.table, async ({ name, input }, send) => {
      if (name === 'BatchGetCommand' && JSON.stringify(input).includes('USERS#')) {
        reads += 1;
        ended.abort();
      }
      return send();
    });
    const options = { source, isCopy: false, report: restoreReport(), signal: ended.signal };
    await expect(restore({ ...live.admin, table }, options)).rejects.toMatchObject({ code: 'interrupted' });
    // Of the first nineteen.
    expect(reads).toBe(1);
  });
});
