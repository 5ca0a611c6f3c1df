/** The optional daily ceilings (UTC) of a stage, over all keys, and a seller's share of each. */
import { DAY_SECONDS, HOUR_SECONDS } from '#shared/clock.ts';
import { isBuyerAppOrPublic, type Scope } from '#shared/scopes.ts';
import type { Limit } from './limit.ts';

export type CeilingName = 'paid-checks-per-day' | 'sms-per-day';

const CEILINGS = {
  'paid-checks-per-day': { problem: 'verification_unavailable', reason: undefined, ofSellers: 1 },
  /** The last fifth is for the buyer app alone. */
  'sms-per-day': { problem: 'sms_unavailable', reason: 'not_sent', ofSellers: 0.8 },
} as const;

const OF_A_DAY = { windowSeconds: DAY_SECONDS, keptSeconds: HOUR_SECONDS } as const;

/** Undefined where no key is required. */
type CountedKey =
  | { readonly keyId: string; readonly sellerId: string; readonly scopes: readonly Scope[] }
  | undefined;

/**
 * The limits that a ceiling sets a key: its seller's share, which is a quarter over all its keys (at least 1), and the ceiling. None if the
 * stage has no ceiling. `callsPerDay`: the ceiling.
 */
export const ceilingLimits = (
  name: CeilingName,
  callsPerDay: number | undefined,
  key: CountedKey,
): Limit[] => {
  if (callsPerDay === undefined) return [];
  const { ofSellers, ...rules } = CEILINGS[name];
  const daily = { ...OF_A_DAY, ...rules };
  const ofStage = (limit: number): Limit => ({
    ...daily,
    subject: `stage:${name}`,
    name: 'count',
    limit,
    ceiling: { name, callsPerDay },
  });
  if (key === undefined || isBuyerAppOrPublic(key)) return [ofStage(callsPerDay)];
  const share = Math.max(1, Math.floor(callsPerDay / 4));
  return [
    { ...daily, subject: key.sellerId, name: `share-of-${name}`, limit: share, keyId: key.keyId },
    ofStage(Math.floor(callsPerDay * ofSellers)),
  ];
};
