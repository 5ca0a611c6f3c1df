import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import { personLimit } from '#shared/rate-limits/person-limits.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { buyerKey, personKey } from '#shared/table/keys.ts';
import { personReader } from '#shared/users/read-person.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { type CountedTable, countedTable } from '#test/table/counted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let counted: CountedTable;
beforeEach(() => {
  counted = countedTable(table);
});

const NOW_MS = Date.parse('2026-11-21T23:59:30Z');

let links = 0;

/** A link under a current and an older hash secret. */
const newLink = () => {
  links += 1;
  const hashes = {
    sellerId: 'sel_test',
    person: new KeyedHash(`person ${links} new`, [`person ${links} old`]),
    phone: new KeyedHash(`phone ${links} new`, [`phone ${links} old`]),
  };
  const read = personReader(counted.table);
  return {
    hashes,
    read: (limits = [] as Parameters<typeof read>[0]['limits']) => read({ ...hashes, limits, nowMs: NOW_MS }),
  };
};

const put = (Item: object) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: Item as Record<string, unknown> }));

describe('personReader', () => {
  it('returns an empty result for a link of which the table holds nothing, in one call', async () => {
    expect(await newLink().read()).toEqual({
      linked: undefined,
      ended: undefined,
      buyer: undefined,
      isExternalIdTaken: false,
      user: undefined,
      limitStates: new Map(),
    });
    expect(counted.rounds).toEqual([['BatchGet']]);
  });

  it.each(['new', 'old'])('finds person and buyer under the hash of each secret: %s', async (age) => {
    const { read } = newLink();
    const person = { ordinal: 3, user_id: 'usr_3', phone_hash: 'phone', birth_day: '1991-04-04' };
    await put({ ...personKey('sel_test', `person ${links} ${age}`), ...person });
    await put({ ...buyerKey(`phone ${links} ${age}`), buyer_id: 'byr_1' });
    expect(await read()).toMatchObject({
      linked: { userId: 'usr_3', phoneHash: 'phone', birthDay: '1991-04-04' },
      ended: undefined,
      buyer: buyerKey(`phone ${links} ${age}`),
    });
  });

  it.each(['new', 'old'])('finds the end of a link under the hash of each secret: %s', async (age) => {
    const { read } = newLink();
    const personHash = `person ${links} ${age}`;
    await put({ ...personKey('sel_test', personHash), phone_hash: 'phone', ended_at: 1_700_000_000 });
    expect(await read()).toMatchObject({
      linked: undefined,
      ended: { endedAt: 1_700_000_000, personHash, phoneHash: 'phone' },
    });
  });

  it('returns the states of limits in the same call, of one subject and of several', async () => {
    const { hashes, read } = newLink();
    const { sellerId, person } = hashes;
    const [begun, failed] = [
      personLimit('begun-checks', sellerId, person),
      personLimit('failed-checks', sellerId, person),
    ];
    const checks = keyLimit('paid-checks-per-day', { keyId: `key_${links}`, plan: 'free', limits: {} });
    const limiter = limiterOn(table);
    await limiter.increment(begun, NOW_MS);
    for (let count = 0; count < 5; count += 1) await limiter.increment(failed, NOW_MS);
    const { limitStates } = await read([begun, failed, checks]);
    expect([...limitStates]).toEqual([
      ['begun-checks', expect.objectContaining({ allowed: true, remaining: 4 })],
      ['failed-checks', expect.objectContaining({ allowed: false, remaining: 0 })],
      ['paid-checks-per-day', expect.objectContaining({ allowed: true, remaining: 500 })],
    ]);
    expect(counted.rounds).toEqual([['BatchGet']]);
  });
});
