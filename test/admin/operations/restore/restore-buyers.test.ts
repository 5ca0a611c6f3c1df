import { restore } from '#admin/operations/restore/restore.ts';
import { restoreReport } from '#admin/operations/restore/restoring.ts';
import { personKey, refusalKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type DamagedDeployment, useDamagedDeployment } from './damaged-deployment.ts';

const newDeployment = useDamagedDeployment();

const AT = '2026-11-20T00:00:00.000Z';

let live: DamagedDeployment;
beforeEach(async () => {
  live = await newDeployment();
});

const buyerOf = (person: string, buyer_id = `byr_of_${person}`, registered_at = AT): StoredItem => ({
  pk: `BUYER#phone-of-${person}`,
  sk: 'BUYER',
  buyer_id,
  registered_at,
});

const PERSONS = Array.from({ length: 60 }, (_, index) => `person ${index}`);

describe('a registration', () => {
  it('comes back, sixty of them too, unless the buyer was removed or erased since', async () => {
    await live.put(...PERSONS.map((person) => buyerOf(person)), buyerOf('Sara'), buyerOf('Reza'));
    await live.takeRestorePoint();
    await live.erase('Sara');
    const removal = { action: 'buyer.removed', details: { buyer_id: 'byr_of_Reza' } };
    await live.admin.audit.write(live.admin.record(removal));
    await live.lose(/^BUYER#phone/);
    const others = (state: string) => PERSONS.map((person) => `buyer byr_of_${person} ${state}`);
    const gone = ['buyer byr_of_Reza removed', 'buyer byr_of_Sara erased'];
    expect(await live.compared()).toEqual([...others('missing'), ...gone].sort());
    expect(await live.copied()).toEqual([...others('copied'), ...gone].sort());
    const buyers = (await live.items()).filter(({ pk }) => String(pk).startsWith('BUYER#phone'));
    expect(buyers).toEqual(
      PERSONS.map((person) => buyerOf(person)).sort((a, b) => (String(a.pk) < String(b.pk) ? -1 : 1)),
    );
  });

  it('stays as it is if the buyer registers again at the same moment, and the others come back', async () => {
    await live.put(...PERSONS.map((person) => buyerOf(person)));
    const source = await live.takeRestorePoint();
    await live.lose(/^BUYER#phone/);
    const [first = ''] = PERSONS;
    const again = buyerOf(first, `byr_of_${first}`, '2026-11-21T11:00:00.000Z');
    let isRegistered = false;
    const table = interceptedTable(live.table, async ({ name, input }, send) => {
      const isOfFirst = JSON.stringify(input).includes(`"BUYER#phone-of-${first}"`);
      if (name === 'TransactWriteCommand' && isOfFirst && !isRegistered) {
        isRegistered = true;
        await live.put(again);
      }
      return send();
    });
    const report = restoreReport();
    await restore({ ...live.admin, table }, { source, isCopy: true, report });
    expect(report.counts().sort((a, b) => a.count - b.count)).toEqual([
      { seller_id: null, kind: 'buyer', state: 'differs', count: 1 },
      { seller_id: null, kind: 'buyer', state: 'copied', count: 59 },
    ]);
    expect(await getItem(live.table, { pk: `BUYER#phone-of-${first}`, sk: 'BUYER' })).toEqual(again);
  });

  it('is gone again after the copy if the buyer is erased beside it', async () => {
    await live.put(buyerOf('Sara'));
    await live.takeRestorePoint();
    await live.lose(/^BUYER#phone/);
    let isErased = false;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (isErased || !write.includes('BUYER')) return;
        isErased = true;
        await live.erase('Sara');
      },
      () => live.copiedWithErasures(),
    );
    expect(found).toEqual(['buyer byr_of_Sara copied', 'buyer byr_of_Sara erased']);
    expect((await live.items()).filter(({ pk }) => pk === 'BUYER#phone-of-Sara')).toEqual([]);
  });

  it('of a buyer who is erased beside the copy and registers again stays', async () => {
    await live.put(buyerOf('Sara'));
    await live.takeRestorePoint();
    await live.lose(/^BUYER#phone/);
    const again = buyerOf('Sara', 'byr_of_Sara', '2026-11-21T11:00:00.000Z');
    let isErased = false;
    await live.beforeEachWrite(
      async (write) => {
        if (isErased || !write.includes('BUYER')) return;
        isErased = true;
        await live.erase('Sara');
        await live.put(again);
      },
      () => live.copiedWithErasures(),
    );
    expect((await live.items()).filter(({ pk }) => pk === 'BUYER#phone-of-Sara')).toEqual([again]);
  });

  it('of a buyer who registered again after an erasure stays as it is, as its user does', async () => {
    await live.put(buyerOf('Sara'));
    const erased = await live.link('Sara');
    await live.takeRestorePoint();
    await live.erase('Sara');
    await live.put(buyerOf('Sara', 'byr_of_Sara', '2026-11-21T11:00:00.000Z'));
    await live.link('Sara');
    expect(await live.copied()).toEqual([`user ${erased} erased`]);
  });

  it('does not come back if only one seller does', async () => {
    await live.put(buyerOf('Sara'));
    const id = await live.link('Sara');
    const { seller_id } = await live.seller('Other');
    await live.link('Sara', undefined, seller_id);
    await live.takeRestorePoint();
    await live.lose(/^(?:USERS|PERSON|LINKS|BUYER#phone)/);
    expect(await live.copied({ sellerId: live.sellerId })).toEqual([`user ${id} copied`]);
  });
});

describe('a refusal', () => {
  const linkAndEnd = async (person: string): Promise<void> => {
    await live.endLink(await live.link(person));
  };
  const personOf = (person: string) => personKey(live.sellerId, `hash-of-${person}`);
  const linkOf = (person: string) => refusalKey(`phone-of-${person}`, live.sellerId, `hash-of-${person}`);

  it('comes back as both of its items', async () => {
    await linkAndEnd('Sara');
    const source = await live.takeRestorePoint();
    await live.lose(/^(?:PERSON|LINKS)#/);
    expect(await live.compared()).toEqual(['refusal  missing']);
    expect(await live.copied()).toEqual(['refusal  copied']);
    for (const key of [personOf('Sara'), linkOf('Sara')]) {
      expect(await getItem(live.table, key)).toEqual(await getItem(source, key));
    }
    expect(await live.copied()).toEqual([]);
  });

  it.each([
    ['person item', /^PERSON#/],
    ['phone', /^LINKS#/],
  ] as const)(
    'is completed if only that of the %s is lost, with the time of the other',
    async (_name, lost) => {
      await linkAndEnd('Sara');
      await live.takeRestorePoint();
      const refused_at = 1_900_000_000;
      for (const key of [personOf('Sara'), linkOf('Sara')]) {
        await live.put({ ...(await getItem(live.table, key)), refused_at });
      }
      await live.lose(lost);
      expect(await live.compared()).toEqual(['refusal  incomplete']);
      expect(await live.copied()).toEqual(['refusal  completed']);
      for (const key of [personOf('Sara'), linkOf('Sara')]) {
        expect(await getItem(live.table, key)).toEqual({ ...key, phone_hash: 'phone-of-Sara', refused_at });
      }
    },
  );

  it('is listed and does not come back if the person is linked again', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^(?:PERSON|LINKS)#/);
    const id = await live.link('Sara');
    expect(await live.copied()).toEqual([`refusal ${id} linked_again`]);
    expect(await getItem(live.table, linkOf('Sara'))).toBeUndefined();
  });

  it('does not come back if the person is linked again between the read and the write', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^(?:PERSON|LINKS)#/);
    const ids: string[] = [];
    const found = await live.beforeEachWrite(
      async (write) => {
        if (ids.length > 0 || !write.includes('LINKS')) return;
        ids.push(await live.link('Sara'));
      },
      () => live.copied(),
    );
    expect(found).toEqual([`refusal ${ids[0]} linked_again`]);
    expect(await getItem(live.table, linkOf('Sara'))).toBeUndefined();
  });

  it('is not completed if it is lifted between the read and the write', async () => {
    await linkAndEnd('Sara');
    await live.takeRestorePoint();
    await live.lose(/^LINKS#/);
    let isLifted = false;
    const found = await live.beforeEachWrite(
      async (write) => {
        if (isLifted || !write.includes('LINKS')) return;
        isLifted = true;
        await live.put({ ...personOf('Sara'), user_id: 'usr_of_a_later_link', phone_hash: 'phone-of-Sara' });
      },
      () => live.copiedWithErasures(),
    );
    expect(found).toEqual(['refusal usr_of_a_later_link linked_again']);
    expect(await getItem(live.table, linkOf('Sara'))).toBeUndefined();
  });

  it('does not come back if the buyer was erased since, and is listed if it ended a link by another phone', async () => {
    await linkAndEnd('Sara');
    await linkAndEnd('Reza');
    await live.takeRestorePoint();
    await live.erase('Sara');
    await live.lose(/^LINKS#/);
    const person = await getItem(live.table, personOf('Reza'));
    await live.put({ ...person, phone_hash: 'phone-of-later' });
    expect(await live.copied()).toEqual(['refusal  changed', 'refusal  erased']);
  });
});
