import fc from 'fast-check';
import { type KeyedHash, keyedHashesFrom, sameMac } from '#shared/secrets/keyed-hashes.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const FIRST = 'first-'.padEnd(32, 'a');
const SECOND = 'second-'.padEnd(40, 'b');
const THIRD = 'third-'.padEnd(40, 'c');

const hashesUnder = (current: string, ...previous: string[]) =>
  keyedHashesFrom(fixedSecret(JSON.stringify({ current, previous })));

const hashes = hashesUnder(FIRST);

const phone = '+989990000001';
const nationalId = '9990000018';
const sent = { phone, audience: 'sel_a', code: '123456' };

const listed = (hash: KeyedHash): string[] => hash.keys((each) => each);

/** All hashes of one person under the keys of one secret. */
const everythingOf = async (from: ReturnType<typeof hashesUnder>): Promise<string[]> => [
  ...listed(await from.phone(phone)),
  ...listed(await from.person('sel_a', nationalId)),
  await from.buyerId(phone),
  await from.codeMac(sent, 'salt'),
];

describe('keyedHashesFrom', () => {
  it('returns the same hash for the same input in every container', async () => {
    expect(await everythingOf(hashesUnder(FIRST))).toEqual(await everythingOf(hashes));
  });

  it('returns no equal hash under another secret', async () => {
    const [one, other] = await Promise.all([everythingOf(hashes), everythingOf(hashesUnder(SECOND))]);
    expect(one.filter((hash) => other.includes(hash))).toEqual([]);
  });

  it('returns different hashes for two phones, for one person at two sellers, and for two persons of a seller', async () => {
    const all = [
      await hashes.phone(phone),
      await hashes.phone('+989990000002'),
      await hashes.person('sel_a', nationalId),
      await hashes.person('sel_b', nationalId),
      await hashes.person('sel_a', '9990000301'),
    ].flat();
    expect(new Set(all).size).toBe(5);
  });

  it('returns different hashes when characters move from one part of the input to the next', async () => {
    const [one, other] = [await hashes.person('sel_a', '12'), await hashes.person('sel_a1', '2')];
    expect(one).not.toEqual(other);
    const macs = [
      await hashes.codeMac({ ...sent, audience: 'a', code: 'bc' }, 'salt'),
      await hashes.codeMac({ ...sent, audience: 'ab', code: 'c' }, 'salt'),
    ];
    expect(new Set(macs).size).toBe(2);
  });

  it('returns different hashes of one input for different purposes', async () => {
    const same = 'x';
    const { current: byPhone } = await hashes.phone(same);
    const buyer = await hashes.buyerId(same);
    expect(buyer.slice('byr_'.length)).not.toBe(byPhone.slice(0, buyer.length - 'byr_'.length));
  });

  it('tells the code of a stored MAC from every other one, whatever its salt', async () => {
    const [mac, again] = [await hashes.codeMac(sent), await hashes.codeMac(sent)];
    const [, hash] = /^\w+\.([\w-]{32})$/.exec(mac) ?? [];
    expect(again.split('.')[1]).not.toBe(hash);
    const others = [
      { ...sent, phone: '+989990000002' },
      { ...sent, audience: 'sel_b' },
      { ...sent, code: '123457' },
    ];
    for (const stored of [mac, again]) {
      expect(await hashes.isCode(stored, sent)).toBe(true);
      for (const other of others) expect(await hashes.isCode(stored, other)).toBe(false);
    }
  });

  it('returns hashes and ids that are safe in keys, URLs and tokens', async () => {
    const { current: phoneHash } = await hashes.phone(phone);
    const { current: person } = await hashes.person('sel_a', nationalId);
    const buyer = await hashes.buyerId(phone);
    expect([phoneHash, person]).toEqual(Array(2).fill(expect.stringMatching(/^[\w-]{32}$/)));
    expect(buyer).toMatch(/^byr_[\w-]{22}$/);
  });
});

describe('keyedHashesFrom, during a rotation', () => {
  const rotated = hashesUnder(SECOND, FIRST);

  it('returns the hash under the current key first, then those under the older keys', async () => {
    const { current: old } = await hashes.phone(phone);
    const { current } = await hashesUnder(SECOND).phone(phone);
    expect(listed(await rotated.phone(phone))).toEqual([current, old]);
    expect(listed(await hashesUnder(THIRD, SECOND, FIRST).phone(phone)).slice(1)).toEqual([current, old]);
    expect(listed(await rotated.person('sel_a', nationalId)).slice(1)).toEqual(
      listed(await hashes.person('sel_a', nationalId)),
    );
  });

  it('finds in each of the two steps what is written in the other, no hash twice, with the same buyer id after any rotation', async () => {
    const steps = [hashesUnder(FIRST, SECOND, FIRST), hashesUnder(SECOND, FIRST)];
    const [first, second] = await Promise.all(steps.map((ring) => ring.person('sel_a', nationalId)));
    expect(second && listed(second)).toEqual(first && listed(first).reverse());
    expect(first?.current).toBe((await hashes.person('sel_a', nationalId)).current);
    const rings = [hashes, ...steps, hashesUnder(THIRD, SECOND, FIRST)];
    const ids = await Promise.all(rings.map((ring) => ring.buyerId(phone)));
    expect(new Set(ids).size).toBe(1);
  });

  it('computes the MAC of a code with the current key', async () => {
    expect(await rotated.codeMac(sent, 'salt')).toBe(await hashesUnder(SECOND).codeMac(sent, 'salt'));
  });

  it('uses the new keys when the secret changes', async () => {
    let stored = JSON.stringify({ current: FIRST });
    const following = keyedHashesFrom({ read: async () => stored });
    const before = listed(await following.phone(phone));
    stored = JSON.stringify({ current: SECOND, previous: [FIRST] });
    expect(listed(await following.phone(phone)).slice(1)).toEqual(before);
  });
});

describe('a malformed hash secret', () => {
  const VALUE = 'hunter2-hunter2';

  it.each([
    ['bare text', VALUE],
    ['a JSON string', JSON.stringify(VALUE)],
    ['broken JSON', `{"current":"${VALUE}`],
    ['a short key', JSON.stringify({ current: VALUE })],
    ['a key of 31 characters', JSON.stringify({ current: VALUE.padEnd(31, 'x') })],
    ['a short older key', JSON.stringify({ current: FIRST, previous: [VALUE] })],
    ['a key that is no string', JSON.stringify({ current: [VALUE] })],
    ['older keys that are no list', JSON.stringify({ current: FIRST, previous: VALUE })],
    ['another name', JSON.stringify({ key: VALUE })],
    ['nothing', ''],
  ])('throws an error that names the expected form and no value: %s', async (_case, text) => {
    const error: unknown = await keyedHashesFrom(fixedSecret(text))
      .phone(phone)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(shown).toContain('the hash secret is not');
    expect([VALUE, FIRST, 'hunter2'].filter((value) => shown.includes(value))).toEqual([]);
  });

  it('is read again after it is corrected', async () => {
    let stored = VALUE;
    const corrected = keyedHashesFrom({ read: async () => stored });
    await expect(corrected.phone(phone)).rejects.toThrow('the hash secret is not');
    stored = JSON.stringify({ current: FIRST });
    expect(listed(await corrected.phone(phone))).toEqual(listed(await hashes.phone(phone)));
  });

  it('leaves the last good keys in use, and is logged once', async () => {
    let stored = JSON.stringify({ current: FIRST });
    const refreshed = keyedHashesFrom({ read: async () => stored });
    const before = listed(await refreshed.phone(phone));
    stored = VALUE;
    expect(listed(await refreshed.phone(phone))).toEqual(before);
    expect(listed(await refreshed.phone(phone))).toEqual(before);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'secret_refresh_failed', secret: 'hash secret', SecretRefreshFailures: 1 },
    ]);
    expect(lines.join()).not.toContain(VALUE);
    stored = JSON.stringify({ current: SECOND, previous: [FIRST] });
    expect(listed(await refreshed.phone(phone)).slice(1)).toEqual(before);
  });
});

describe('sameMac', () => {
  it('returns true only for equal texts', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(sameMac(one, one)).toBe(true);
        expect(sameMac(one, other)).toBe(one === other);
        expect(sameMac(one, `${one}${other}x`)).toBe(false);
      }),
    );
  });
});
