import fc from 'fast-check';
import {
  apiKeyKey,
  auditKey,
  buyerKey,
  codeKey,
  keyIdKey,
  keySecretKey,
  limitSortKey,
  limitsPartition,
  MAX_ORDINAL,
  numberSortKey,
  personKey,
  phoneLinkKey,
  sellerKey,
  sellerListKey,
  userKey,
  usersPartition,
} from '#shared/table/keys.ts';

/** Ids and hashes as the service makes them: without the separator `#`. */
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const ordinal = fc.integer({ min: 1, max: MAX_ORDINAL });

describe('the keys', () => {
  it('differ between kinds of item that are made of the same names', () => {
    fc.assert(
      fc.property(name, name, fc.nat(), (one, other, number) => {
        const keys = [
          sellerKey(one),
          apiKeyKey(one, other),
          sellerListKey(one, other),
          keyIdKey(one),
          auditKey(one, other, one),
          keySecretKey(one),
          userKey(one, number),
          personKey(one, other),
          buyerKey(one),
          codeKey(one, other),
          phoneLinkKey(one, other, number),
          { pk: limitsPartition(one), sk: limitSortKey('HOUR', number) },
          { pk: limitsPartition(one), sk: limitSortKey('DAY', number) },
        ].map(({ pk, sk }) => JSON.stringify([pk, sk]));
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it('differ between two items of a kind whose names differ', () => {
    fc.assert(
      fc.property(name, name, name, name, (a, b, c, d) => {
        const isSame = a === c && b === d;
        const makers = [personKey, apiKeyKey, sellerListKey] as const;
        const same = makers.map((keyOf) => JSON.stringify(keyOf(a, b)) === JSON.stringify(keyOf(c, d)));
        expect(same).toEqual([isSame, isSame, isSame]);
      }),
    );
  });
});

describe('numberSortKey', () => {
  it('sorts as text in the order of the ordinals, up to the largest', () => {
    fc.assert(
      fc.property(ordinal, ordinal, (one, other) => {
        expect(numberSortKey(one) < numberSortKey(other)).toBe(one < other);
      }),
    );
    expect(numberSortKey(MAX_ORDINAL)).toHaveLength(numberSortKey(1).length);
  });
});

describe('userKey', () => {
  it("is in the partition of its seller's users", () => {
    expect(userKey('sel_a', 12)).toEqual({ pk: usersPartition('sel_a'), sk: '000000000012' });
  });
});
