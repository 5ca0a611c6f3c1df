import type { AttackOptions } from './attack.ts';
import { bodyAttacks } from './body-attacks.ts';
import { keyAttacks } from './key-attacks.ts';
import { disguiseAttacks, pathAttacks } from './path-attacks.ts';
import { tokenAttacks } from './token-attacks.ts';

/** Attacks every row of a route table, so that a new endpoint is attacked without a new test. */
export const routeAttacks = (options: AttackOptions): void => {
  keyAttacks(options);
  bodyAttacks(options);
  pathAttacks(options);
  disguiseAttacks(options);
  tokenAttacks(options);
};
