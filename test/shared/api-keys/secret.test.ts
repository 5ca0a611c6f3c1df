import fc from 'fast-check';
import { hashApiKey, isWellFormedKey, lastFourOf, newApiKey } from '#shared/api-keys/secret.ts';
import { KEY_PREFIXES } from '#shared/env.ts';
import { itForAll } from '#test/for-all.ts';

const prefix = fc.constantFrom(...KEY_PREFIXES);

describe('newApiKey', () => {
  it('makes keys of the documented form that are all different', () => {
    const keys = Array.from({ length: 100 }, () => newApiKey('blk_live_'));
    expect(keys.filter((key) => !/^blk_live_[0-9A-Za-z]{38}$/.test(key))).toEqual([]);
    expect(new Set(keys).size).toBe(100);
  });
});

describe('isWellFormedKey', () => {
  it('accepts every new key of its own prefix and of no other', () => {
    fc.assert(
      fc.property(prefix, prefix, (made, asked) => {
        expect(isWellFormedKey(newApiKey(made), asked)).toBe(made === asked);
      }),
    );
  });

  it('rejects a key with any one character changed', () => {
    const key = newApiKey('blk_test_');
    fc.assert(
      fc.property(
        fc.integer({ min: 9, max: key.length - 1 }),
        fc.constantFrom(...'aZ9_! '),
        (index, character) => {
          fc.pre(key[index] !== character);
          expect(
            isWellFormedKey(`${key.slice(0, index)}${character}${key.slice(index + 1)}`, 'blk_test_'),
          ).toBe(false);
        },
      ),
    );
  });

  itForAll(['', 'blk_test_', `${newApiKey('blk_test_')}x`, ` ${newApiKey('blk_test_')}`])(
    'rejects text that is no key, and a key with a character more',
    (text) => {
      expect(isWellFormedKey(text, 'blk_test_')).toBe(false);
    },
  );
});

describe('hashApiKey', () => {
  it('is the SHA-256 in hex', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('lastFourOf', () => {
  it('returns the last four characters', () => {
    expect(lastFourOf('blk_test_abcdEFGH')).toBe('EFGH');
  });
});
