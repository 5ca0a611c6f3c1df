import fc from 'fast-check';
import { keyedHashesFrom, sameMac } from '#shared/secrets/keyed-hashes.ts';
import { fixedSecret } from '#test/fakes/secret.ts';

const FIRST = 'first-'.padEnd(40, 'a');
const SECOND = 'second-'.padEnd(40, 'b');
const THIRD = 'third-'.padEnd(40, 'c');

const digestsUnder = (current: string, ...previous: string[]) =>
  keyedHashesFrom(fixedSecret(JSON.stringify({ current, previous })));

const hashes = digestsUnder(FIRST);

const phone = '+989990000001';
const nationalId = '9990000018';
const sent = { phone, audience: 'sel_a', code: '123456', salt: 'salt' };

/** Everything that the hashes make of one person under one ring. */
const everythingOf = async (from: ReturnType<typeof digestsUnder>): Promise<string[]> => [
  ...(await from.phone(phone)),
  ...(await from.person('sel_a', nationalId)),
  await from.buyerId(phone),
  await from.codeMac(sent),
];

describe('keyedHashesFrom', () => {
  it('gives the same hash for the same input, also in another container', async () => {
    expect(await everythingOf(digestsUnder(FIRST))).toEqual(await everythingOf(hashes));
  });

  it('gives nothing the same under another secret', async () => {
    const [one, other] = await Promise.all([everythingOf(hashes), everythingOf(digestsUnder(SECOND))]);
    expect(one.filter((hash) => other.includes(hash))).toEqual([]);
  });

  it('tells two phones apart, two sellers of one person, and two persons of one seller', async () => {
    const all = [
      await hashes.phone(phone),
      await hashes.phone('+989990000002'),
      await hashes.person('sel_a', nationalId),
      await hashes.person('sel_b', nationalId),
      await hashes.person('sel_a', '9990000301'),
    ].flat();
    expect(new Set(all).size).toBe(5);
  });

  it('cannot be made to take one pair for another by moving the border between its parts', async () => {
    const [one, other] = [await hashes.person('sel_a', '12'), await hashes.person('sel_a1', '2')];
    expect(one).not.toEqual(other);
    const macs = [
      await hashes.codeMac({ ...sent, audience: 'a', code: 'bc' }),
      await hashes.codeMac({ ...sent, audience: 'ab', code: 'c' }),
    ];
    expect(new Set(macs).size).toBe(2);
  });

  it('takes no hash of one kind for one of another, though the input is the same', async () => {
    const same = 'x';
    const [[byPhone], buyer] = [await hashes.phone(same), await hashes.buyerId(same)];
    expect(buyer.slice('byr_'.length)).not.toBe(byPhone.slice(0, buyer.length - 'byr_'.length));
  });

  it('makes of each part of a code a MAC of its own, and of two sends of one code two', async () => {
    const macs = await Promise.all(
      [
        sent,
        { ...sent, phone: '+989990000002' },
        { ...sent, audience: 'sel_b' },
        { ...sent, code: '123457' },
        { ...sent, salt: 'tlas' },
      ].map((parts) => hashes.codeMac(parts)),
    );
    expect(new Set(macs.map((mac) => mac.split('.')[1])).size).toBe(5);
    expect(macs[0]).toMatch(/^salt\.[\w-]{32}$/);
  });

  it('shows no input and no key in anything it gives', async () => {
    const text = fc.string({ minLength: 6, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (one, two, three) => {
        const given = [
          ...(await hashes.phone(one)),
          ...(await hashes.person(one, two)),
          await hashes.buyerId(one),
          await hashes.codeMac({ phone: one, audience: two, code: three, salt: '' }),
        ].join(' ');
        expect([one, two, three, FIRST].filter((input) => given.includes(input))).toEqual([]);
      }),
    );
  });

  it('gives hashes and ids that are safe in keys, URLs and tokens', async () => {
    const [[phoneHash], [person], buyer] = [
      await hashes.phone(phone),
      await hashes.person('sel_a', nationalId),
      await hashes.buyerId(phone),
    ];
    expect([phoneHash, person]).toEqual(Array(2).fill(expect.stringMatching(/^[\w-]{32}$/)));
    expect(buyer).toMatch(/^byr_[\w-]{22}$/);
  });
});

describe('keyedHashesFrom, over a rotation', () => {
  const rotated = digestsUnder(SECOND, FIRST);

  it('looks for what was written under each older key, behind the current one', async () => {
    const [old] = await hashes.phone(phone);
    const [current] = await digestsUnder(SECOND).phone(phone);
    expect(await rotated.phone(phone)).toEqual([current, old]);
    expect((await rotated.person('sel_a', nationalId)).slice(1)).toEqual(
      await hashes.person('sel_a', nationalId),
    );
  });

  it('keeps the id of a buyer, over any number of rotations', async () => {
    const ids = await Promise.all(
      [hashes, rotated, digestsUnder(THIRD, SECOND, FIRST)].map((ring) => ring.buyerId(phone)),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('finds in each of its two steps what is written in the other, and keeps the id of a buyer in both', async () => {
    const steps = [digestsUnder(FIRST, SECOND, FIRST), digestsUnder(SECOND, FIRST)];
    const [first, second] = await Promise.all(steps.map((ring) => ring.person('sel_a', nationalId)));
    expect(second).toEqual([...(first ?? [])].reverse());
    expect(first?.[0]).toBe((await hashes.person('sel_a', nationalId))[0]);
    const ids = await Promise.all([hashes, ...steps].map((ring) => ring.buyerId(phone)));
    expect(new Set(ids).size).toBe(1);
  });

  it('gives no hash twice, though a key be named twice', async () => {
    expect(await digestsUnder(SECOND, SECOND, FIRST, FIRST).phone(phone)).toEqual(await rotated.phone(phone));
  });

  it('makes codes under the current key', async () => {
    expect(await rotated.codeMac(sent)).toBe(await digestsUnder(SECOND).codeMac(sent));
  });

  it('follows the secret when it changes', async () => {
    let stored = JSON.stringify({ current: FIRST });
    const following = keyedHashesFrom({ read: async () => stored });
    const before = await following.phone(phone);
    stored = JSON.stringify({ current: SECOND, previous: [FIRST] });
    expect((await following.phone(phone)).slice(1)).toEqual(before);
  });
});

describe('a malformed hash secret', () => {
  const VALUE = 'hunter2-hunter2';

  it.each([
    ['bare text', VALUE],
    ['a JSON string', JSON.stringify(VALUE)],
    ['broken JSON', `{"current":"${VALUE}`],
    ['a short key', JSON.stringify({ current: VALUE })],
    ['a short older key', JSON.stringify({ current: FIRST, previous: [VALUE] })],
    ['a key that is no string', JSON.stringify({ current: [VALUE] })],
    ['older keys that are no list', JSON.stringify({ current: FIRST, previous: VALUE })],
    ['another name', JSON.stringify({ key: VALUE })],
    ['nothing', ''],
  ])('is an error that says what is expected and shows no value: %s', async (_case, text) => {
    const error: unknown = await keyedHashesFrom(fixedSecret(text))
      .phone(phone)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(shown).toContain('the hash secret is not');
    expect([VALUE, FIRST, 'hunter2'].filter((value) => shown.includes(value))).toEqual([]);
  });

  it('is read again once it is mended', async () => {
    let stored = VALUE;
    const mended = keyedHashesFrom({ read: async () => stored });
    await expect(mended.phone(phone)).rejects.toThrow('the hash secret is not');
    stored = JSON.stringify({ current: FIRST });
    expect(await mended.phone(phone)).toEqual(await hashes.phone(phone));
  });
});

describe('sameMac', () => {
  it('is true for equal texts alone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(sameMac(one, one)).toBe(true);
        expect(sameMac(one, other)).toBe(one === other);
        expect(sameMac(one, `${one}${other}x`)).toBe(false);
      }),
    );
  });

  it('compares texts of different length without throwing', () => {
    expect(sameMac('', 'a')).toBe(false);
    expect(sameMac('é', 'e')).toBe(false);
  });
});
