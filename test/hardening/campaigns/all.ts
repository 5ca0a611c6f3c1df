import { abuse } from './abuse.ts';
import type { Campaign } from './campaign.ts';
import { changeBurst } from './change-burst.ts';
import { clock } from './clock.ts';
import { codeTiming } from './code-timing.ts';
import { crashes } from './crashes.ts';
import { databaseFaults } from './database-faults.ts';
import { endBesideChanges } from './end-beside-changes.ts';
import { eraseBesideSignIn } from './erase-beside-sign-in.ts';
import { fuzz } from './fuzz.ts';
import { hostileInputs } from './hostile-inputs.ts';
import { hostileSeller } from './hostile-seller.ts';
import { keys } from './keys.ts';
import { leaks } from './leaks.ts';
import { limits } from './limits.ts';
import { model } from './model.ts';
import { outage } from './outage.ts';
import { restore } from './restore.ts';
import { rotationStorm } from './rotation-storm.ts';
import { schemathesis } from './schemathesis.ts';
import { searches } from './search.ts';
import { supplyChain } from './supply-chain.ts';
import { upgradingProvider } from './upgrading-provider.ts';

/** Every campaign, in the order of a run. The search for leaks comes last. */
export const campaigns: readonly Campaign[] = [
  model,
  databaseFaults,
  crashes,
  outage,
  clock,
  hostileSeller,
  fuzz,
  schemathesis,
  keys,
  limits,
  abuse,
  searches,
  rotationStorm,
  restore,
  upgradingProvider,
  eraseBesideSignIn,
  endBesideChanges,
  changeBurst,
  supplyChain,
  hostileInputs,
  codeTiming,
  leaks,
];
