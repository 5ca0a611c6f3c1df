import fc from 'fast-check';
import { fromBase62, randomBase62, toBase62 } from '#shared/base62.ts';

const ALPHABET = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];

/** Reads base62 back, apart from the code under test. */
const readBase62 = (text: string): bigint =>
  [...text].reduce((value, letter) => value * 62n + BigInt(ALPHABET.indexOf(letter)), 0n);

describe('toBase62', () => {
  it.each([
    [0, 1, '0'],
    [0, 6, '000000'],
    [61, 1, 'z'],
    [62, 2, '10'],
    [0xffff_ffff, 6, '4gfFC3'],
    [62n ** 6n - 1n, 6, 'zzzzzz'],
  ])('encodes %s in %i characters as %s', (value, width, text) => {
    expect(toBase62(value, width)).toBe(text);
  });

  it('encodes every number so that fromBase62 decodes it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 256n }),
        fc.integer({ min: 0, max: 50 }),
        (value, width) => {
          const text = toBase62(value, width);
          expect(readBase62(text)).toBe(value);
          expect(text.length).toBeGreaterThanOrEqual(width);
          expect(text).not.toMatch(new RegExp(`^0.{${Math.max(width, 1)}}`));
        },
      ),
    );
  });
});

describe('fromBase62', () => {
  it('decodes what toBase62 encoded, up to 2^53', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(fromBase62(toBase62(value, 7))).toBe(value);
      }),
    );
  });

  it.each(['-1', ' 1', '1.5', 'é', '1_0'])('returns undefined for %j, which is not base62', (text) => {
    expect(fromBase62(text)).toBeUndefined();
  });
});

describe('randomBase62', () => {
  it('returns exactly the requested number of base62 characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), (length) => {
        expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
      }),
    );
  });

  it('returns every character equally often', () => {
    const DRAWS = 620_000;
    const counts = new Map(ALPHABET.map((letter) => [letter, 0]));
    for (const letter of randomBase62(DRAWS)) counts.set(letter, Number(counts.get(letter)) + 1);
    // Each letter is expected 10,000 times with a deviation of about 99. Without the rejection of bytes of 248 and more, the first
    // eight would come 12,109 times; ten deviations to either side are never left by chance.
    expect([...counts.values()].filter((count) => Math.abs(count - DRAWS / 62) > 1000)).toEqual([]);
  });
});
