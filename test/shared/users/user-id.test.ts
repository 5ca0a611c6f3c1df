import fc from 'fast-check';
import { MAX_ORDINAL } from '#shared/table/keys.ts';
import { newRandomPart, ordinalOf, USER_ID, userIdAt } from '#shared/users/user-id.ts';

const ordinals = fc.oneof(fc.integer({ min: 1, max: MAX_ORDINAL }), fc.constantFrom(1, 62, MAX_ORDINAL));

describe('userIdAt', () => {
  it('writes usr_, the ordinal in 7 characters and the random part in 15', () => {
    expect(userIdAt(1, 'aaaaabbbbbccccc')).toBe('usr_0000001aaaaabbbbbccccc');
    expect(userIdAt(62, 'aaaaabbbbbccccc')).toBe('usr_0000010aaaaabbbbbccccc');
  });

  it('makes an id from which ordinalOf reads the same ordinal, up to the largest one', () => {
    fc.assert(
      fc.property(ordinals, (ordinal) => {
        const id = userIdAt(ordinal, newRandomPart());
        expect(id).toMatch(USER_ID);
        expect(ordinalOf(id)).toBe(ordinal);
      }),
    );
  });
});

describe('ordinalOf', () => {
  it.each([
    ['an empty string', ''],
    ['another prefix', 'byr_0000001aaaaabbbbbccccc'],
    ['a character too few', 'usr_0000001aaaaabbbbbcccc'],
    ['a character too many', 'usr_0000001aaaaabbbbbcccccc'],
    ['a character outside base62', 'usr_0000001aaaaabbbbb-cccc'],
    ['a line end after it', 'usr_0000001aaaaabbbbbccccc\n'],
    ['the ordinal 0', 'usr_0000000aaaaabbbbbccccc'],
    ['an ordinal above the largest one', 'usr_zzzzzzzaaaaabbbbbccccc'],
    ['100 KB', `usr_${'0'.repeat(100_000)}`],
  ])('returns undefined for %s', (_case, id) => {
    expect(ordinalOf(id)).toBeUndefined();
  });
});

describe('newRandomPart', () => {
  it('returns 15 base62 characters that differ each time', () => {
    const parts = Array.from({ length: 1000 }, newRandomPart);
    expect(parts.filter((part) => !/^[0-9A-Za-z]{15}$/.test(part))).toEqual([]);
    expect(new Set(parts).size).toBe(1000);
  });
});
