import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { buyerKey, personCheckKey, personKey } from '#shared/table/keys.ts';
import { personReader } from '#shared/users/link-user.ts';
import { checkRecordFrom, withLease } from '#shared/users/person-check.ts';
import { type CountedTable, countedTable } from '#test/table/counted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let counted: CountedTable;
beforeEach(() => {
  counted = countedTable(table);
});

const NOW_MS = Date.parse('2026-11-21T08:00:00Z');

let links = 0;

/** A link under a current and an older hash secret. */
const newLink = () => {
  links += 1;
  const hashes = {
    sellerId: 'sel_test',
    personHashes: [`person ${links} new`, `person ${links} old`] as const,
    phoneHashes: [`phone ${links} new`, `phone ${links} old`] as const,
  };
  return { hashes, lookUp: () => personReader(counted.table)({ ...hashes, limits: [], nowMs: 0 }) };
};

const put = (Item: object) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: Item as Record<string, unknown> }));

describe('lookUp', () => {
  it('returns an empty result for a link of which the table holds nothing, in one call', async () => {
    expect(await newLink().lookUp()).toEqual({
      person: undefined,
      buyerHash: undefined,
      isExternalIdTaken: false,
      record: checkRecordFrom(undefined),
      limitStates: [],
    });
    expect(counted.rounds).toEqual([['BatchGet']]);
  });

  it.each([0, 1])('finds person and buyer under the hash of each secret: %i', async (index) => {
    const { hashes, lookUp } = newLink();
    const person = { ordinal: 3, user_id: 'usr_3', phone_hash: 'phone', birth_day: '1991-04-04' };
    await put({ ...personKey('sel_test', hashes.personHashes[index] as string), ...person });
    await put({ ...buyerKey(hashes.phoneHashes[index] as string), buyer_id: 'byr_1' });
    expect(await lookUp()).toMatchObject({
      person: { userId: 'usr_3', phoneHash: 'phone', birthDay: '1991-04-04' },
      buyerHash: hashes.phoneHashes[index],
    });
  });

  it('does not find the person of another seller', async () => {
    const { hashes, lookUp } = newLink();
    await put({ ...personKey('sel_other', hashes.personHashes[0]), ordinal: 1, user_id: 'usr_1' });
    expect((await lookUp()).person).toBeUndefined();
  });

  it('returns the checks of the person', async () => {
    const { hashes, lookUp } = newLink();
    const record = withLease(checkRecordFrom(undefined), 'lease', NOW_MS);
    await put({ ...personCheckKey('sel_test', hashes.personHashes[0]), ...record });
    expect((await lookUp()).record).toEqual(record);
  });
});
