import { type Administration, requireKey } from '#admin/administration.ts';
import type { DayUsage } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { type LimitUsage, minuteUsage } from './key-limits.ts';

/** The requests of a key on each of the last days, and in the current minute. */
export interface KeyUsage {
  readonly plan: PlanName;
  readonly days: readonly DayUsage[];
  readonly minute: LimitUsage;
}

const DAY_MS = 86_400_000;

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/**
 * Returns the requests of a key by day (UTC), oldest first and today last, with 0 for days without requests; and those of the current
 * minute. API Gateway counts by plan, so the counts of all plans are added. A revoked key has none: API Gateway deletes them with it.
 */
export const keyUsage = async (admin: Administration, keyId: string, dayCount: number): Promise<KeyUsage> => {
  const key = await requireKey(admin, keyId);
  const nowMs = admin.clock();
  const days = Array.from({ length: dayCount }, (_, index) => dayOf(nowMs - (dayCount - 1 - index) * DAY_MS));
  const counts = new Map(days.map((day) => [day, 0]));
  const { gateway_key_id: id } = key;
  for (const plan of id === undefined ? [] : PLAN_NAMES) {
    const used = await admin.usagePlans.usage(String(id), plan, String(days[0]), String(days.at(-1)));
    for (const { day, requests } of used) counts.set(day, (counts.get(day) ?? 0) + requests);
  }
  return {
    plan: key.plan,
    days: days.map((day) => ({ day, requests: counts.get(day) ?? 0 })),
    minute: await minuteUsage(admin, key),
  };
};
