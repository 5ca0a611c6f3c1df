/** The index of removals, by blocks of ordinals: a bitmap of a block's removed ordinals, and the count of each block in the summary. */

/** The bitmap of a block has 512 bytes, so its item is smaller than 1 KB, the unit of a write. */
export const BLOCK_SIZE = 4096;

/** Two bytes hold the count of a block: 0 to 4,096. */
const BYTES_PER_COUNT = 2;

/** Counted from 0. */
export const blockOf = (ordinal: number): number => Math.floor((ordinal - 1) / BLOCK_SIZE);

/** Beyond the bytes of a bitmap nothing was removed. */
const bitOf = (bitmap: Uint8Array, index: number): number => ((bitmap[index >> 3] ?? 0) >> (index & 7)) & 1;

/** Undefined: nothing was removed from the block before. */
export const withRemoved = (bitmap: Uint8Array | undefined, ordinal: number): Uint8Array => {
  const index = (ordinal - 1) % BLOCK_SIZE;
  const copy = new Uint8Array(BLOCK_SIZE / 8);
  copy.set(bitmap ?? []);
  copy[index >> 3] = (copy[index >> 3] ?? 0) | (1 << (index & 7));
  return copy;
};

const countAt = (summary: Uint8Array, block: number): number => {
  const first = block * BYTES_PER_COUNT;
  return ((summary[first] ?? 0) << 8) | (summary[first + 1] ?? 0);
};

const blocksIn = (summary: Uint8Array): number => summary.length / BYTES_PER_COUNT;

/** Undefined: nothing was removed before. */
export const withCounted = (summary: Uint8Array | undefined, block: number): Uint8Array => {
  const length = Math.max(summary?.length ?? 0, (block + 1) * BYTES_PER_COUNT);
  const copy = new Uint8Array(length);
  copy.set(summary ?? []);
  const count = countAt(copy, block) + 1;
  copy.set([count >> 8, count & 0xff], block * BYTES_PER_COUNT);
  return copy;
};

export const totalOf = (summary: Uint8Array): number => {
  let total = 0;
  for (let block = 0; block < blocksIn(summary); block += 1) total += countAt(summary, block);
  return total;
};

export interface Place {
  readonly block: number;
  readonly preceding: number;
  readonly removed: number;
}

export const placeOf = (summary: Uint8Array, preceding: number): Place => {
  let left = preceding;
  for (let block = 0; block < blocksIn(summary); block += 1) {
    const removed = countAt(summary, block);
    const users = BLOCK_SIZE - removed;
    if (left < users) return { block, preceding: left, removed };
    left -= users;
  }
  const block = blocksIn(summary) + Math.floor(left / BLOCK_SIZE);
  return { block, preceding: left % BLOCK_SIZE, removed: 0 };
};

export const removedIn = (bitmap: Uint8Array): number => {
  let removed = 0;
  for (let index = 0; index < BLOCK_SIZE; index += 1) removed += bitOf(bitmap, index);
  return removed;
};

/** `bitmap`: that of the place's block; empty if nothing was removed from it. */
export const ordinalAt = ({ block, preceding }: Place, bitmap: Uint8Array): number => {
  const first = block * BLOCK_SIZE + 1;
  let left = preceding;
  let index = 0;
  for (; index < BLOCK_SIZE; index += 1) {
    if (bitOf(bitmap, index) === 1) continue;
    if (left === 0) break;
    left -= 1;
  }
  return first + index;
};
