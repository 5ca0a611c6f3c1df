/** What limits the paid checks of a link and of a user. */
import type { Caller } from '#shared/api-keys/caller.ts';
import { ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { personLimit } from '#shared/rate-limits/person-limits.ts';
import type { LinkHashes } from './read-person.ts';

export interface CheckLimits {
  /** Of the key, of its seller's share and of the stage. */
  readonly paidChecks: readonly Limit[];
  /** Of the person, the longer window first. */
  readonly ofPerson: readonly Limit[];
  /** Counted when a check begins. */
  readonly begun: readonly Limit[];
  /** Counted after a verdict against the person. */
  readonly failed: readonly Limit[];
  readonly refusedLink: Limit;
}

/** `paidChecksPerDay`: the ceiling of the stage. */
export const checkLimits = (
  caller: Caller,
  { sellerId, person }: LinkHashes,
  paidChecksPerDay: number | undefined,
): CheckLimits => {
  const paidChecks = [
    keyLimit('paid-checks-per-day', caller),
    ...ceilingLimits('paid-checks-per-day', paidChecksPerDay, caller),
  ];
  const begun = personLimit('begun-checks', sellerId, person);
  const failed = personLimit('failed-checks', sellerId, person);
  return {
    paidChecks,
    ofPerson: [failed, begun],
    begun: [begun, ...paidChecks],
    failed: [failed, keyLimit('failed-checks-per-hour', caller)],
    refusedLink: keyLimit('refused-links-per-hour', caller),
  };
};
