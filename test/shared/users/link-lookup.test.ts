import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
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
    person: new KeyedHash(`person ${links} new`, [`person ${links} old`]),
    phone: new KeyedHash(`phone ${links} new`, [`phone ${links} old`]),
  };
  return { hashes, lookUp: () => personReader(counted.table)({ ...hashes, limits: [], nowMs: 0 }) };
};

const put = (Item: object) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: Item as Record<string, unknown> }));

describe('lookUp', () => {
  it('returns an empty result for a link of which the table holds nothing, in one call', async () => {
    expect(await newLink().lookUp()).toEqual({
      person: undefined,
      buyer: undefined,
      isExternalIdTaken: false,
      record: checkRecordFrom(undefined),
      limitStates: [],
    });
    expect(counted.rounds).toEqual([['BatchGet']]);
  });

  it.each(['new', 'old'])('finds person and buyer under the hash of each secret: %s', async (age) => {
    const { lookUp } = newLink();
    const person = { ordinal: 3, user_id: 'usr_3', phone_hash: 'phone', birth_day: '1991-04-04' };
    await put({ ...personKey('sel_test', `person ${links} ${age}`), ...person });
    await put({ ...buyerKey(`phone ${links} ${age}`), buyer_id: 'byr_1' });
    expect(await lookUp()).toMatchObject({
      person: { userId: 'usr_3', phoneHash: 'phone', birthDay: '1991-04-04' },
      buyer: buyerKey(`phone ${links} ${age}`),
    });
  });

  it('does not find the person of another seller', async () => {
    const { hashes, lookUp } = newLink();
    await put({ ...personKey('sel_other', hashes.person.current), ordinal: 1, user_id: 'usr_1' });
    expect((await lookUp()).person).toBeUndefined();
  });

  it('returns the checks of the person', async () => {
    const { hashes, lookUp } = newLink();
    const record = withLease(checkRecordFrom(undefined), 'lease', NOW_MS);
    await put({ ...personCheckKey('sel_test', hashes.person.current), ...record });
    expect((await lookUp()).record).toEqual(record);
  });
});
