import type { Campaign } from './campaign.ts';
import { changeBurst } from './change-burst.ts';
import { clock } from './clock.ts';
import { codeTiming } from './code-timing.ts';
import { crashes } from './crashes.ts';
import { databaseFaults } from './database-faults.ts';
import { endInBurst } from './end-in-burst.ts';
import { everyCase } from './every-case.ts';
import { hostileInputs } from './hostile-inputs.ts';
import { keys } from './keys.ts';
import { leaks } from './leaks.ts';
import { model } from './model.ts';
import { outage } from './outage.ts';
import { parallelSends } from './parallel-sends.ts';
import { schemathesis } from './schemathesis.ts';
import { supplyChain } from './supply-chain.ts';
import { triesWithoutCode } from './tries-without-code.ts';

/** Every campaign, in the order of a run. The search for leaks comes last. */
export const campaigns: readonly Campaign[] = [
  model,
  databaseFaults,
  crashes,
  outage,
  clock,
  schemathesis,
  keys,
  triesWithoutCode,
  parallelSends,
  endInBurst,
  changeBurst,
  supplyChain,
  hostileInputs,
  codeTiming,
  everyCase,
  leaks,
];
