/** A seeded source of random choices: the same seed makes the same choices. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** An integer from 0 to `below` - 1. */
  integer(below: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(probability: number): boolean;
  /** A source of its own, which other draws do not disturb. */
  fork(label: number): Random;
}

/** mulberry32: 32 bits of state, enough to choose operations and faults. */
export const seededRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    next,
    integer,
    pick: (items) => items[integer(items.length)] as (typeof items)[number],
    chance: (probability) => next() < probability,
    fork: (label) => seededRandom(Math.imul(seed + 1, 2_654_435_761) ^ Math.imul(label + 1, 40_503)),
  };
};
