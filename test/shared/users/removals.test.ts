import fc from 'fast-check';
import {
  BLOCK_SIZE,
  blockOf,
  ordinalAt,
  placeOf,
  removedIn,
  totalOf,
  withCounted,
  withRemoved,
} from '#shared/users/removals.ts';

const BLOCKS = 3;
const LAST = BLOCKS * BLOCK_SIZE;
const EMPTY = new Uint8Array();

/** The index after these ordinals were removed, one after the other. */
const indexOf = (ordinals: readonly number[]) => {
  let summary: Uint8Array = EMPTY;
  const bitmaps = new Map<number, Uint8Array>();
  for (const ordinal of ordinals) {
    const block = blockOf(ordinal);
    summary = withCounted(summary, block);
    bitmaps.set(block, withRemoved(bitmaps.get(block), ordinal));
  }
  return { summary, bitmaps };
};

/** Ordinals near the ends of blocks and anywhere between. */
const ordinals = fc.uniqueArray(
  fc.oneof(
    fc.integer({ min: 1, max: LAST }),
    fc.integer({ min: BLOCK_SIZE - 3, max: BLOCK_SIZE + 3 }),
    fc.integer({ min: 1, max: 5 }),
  ),
  { maxLength: 40 },
);

describe('the index of removals', () => {
  it('finds the ordinal of every user that remains, whatever was removed', () => {
    fc.assert(
      fc.property(ordinals, fc.integer({ min: 0, max: LAST - 41 }), (removed, preceding) => {
        const { summary, bitmaps } = indexOf(removed);
        const place = placeOf(summary, preceding);
        const remaining = Array.from({ length: LAST }, (_, index) => index + 1).filter(
          (ordinal) => !removed.includes(ordinal),
        );
        expect(ordinalAt(place, bitmaps.get(place.block) ?? EMPTY)).toBe(remaining[preceding]);
      }),
      { numRuns: 50 },
    );
  });

  it('counts the removals of every block and in all', () => {
    fc.assert(
      fc.property(ordinals, (removed) => {
        const { summary, bitmaps } = indexOf(removed);
        expect(totalOf(summary)).toBe(removed.length);
        const counts = [...bitmaps].map(([block, bitmap]) => [block, removedIn(bitmap)]);
        expect(counts).toEqual(
          [...bitmaps.keys()].map((block) => [block, removed.filter((one) => blockOf(one) === block).length]),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('passes over blocks of which every user was removed', () => {
    const { summary } = indexOf(Array.from({ length: BLOCK_SIZE }, (_, index) => index + 1));
    expect(placeOf(summary, 0)).toEqual({ block: 1, preceding: 0, removed: 0 });
    expect(placeOf(summary, BLOCK_SIZE + 7)).toEqual({ block: 2, preceding: 7, removed: 0 });
  });

  it('needs 512 bytes for a block and 2 bytes for the count of a block', () => {
    const { summary, bitmaps } = indexOf([1_000_000]);
    expect(summary).toHaveLength(2 * Math.ceil(1_000_000 / BLOCK_SIZE));
    expect(bitmaps.get(blockOf(1_000_000))).toHaveLength(512);
  });
});
