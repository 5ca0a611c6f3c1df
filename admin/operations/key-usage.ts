import { type Administration, requireKey } from '#admin/administration.ts';
import { readMeter } from '#admin/stores/read-limit.ts';
import type { DayUsage } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, PLANS, type PlanName, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { secondsToNextWindow } from '#shared/rate-limits/windows.ts';

/** What a key was used for: each of the last days, and the minute that runs. */
export interface KeyUsage {
  readonly plan: PlanName;
  readonly days: readonly DayUsage[];
  readonly minute: { readonly requests: number; readonly limit: number; readonly resetSeconds: number };
}

const DAY_MS = 86_400_000;

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/**
 * The requests of a key by day (UTC), oldest first, today last, days without any as 0; and of the current minute. API Gateway counts
 * by plan, so a key that was moved has some in each. A revoked key has no days: API Gateway forgets them with it.
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
    minute: {
      requests: await readMeter(admin.table, keyId, WINDOW_SECONDS, nowMs),
      limit: PLANS[key.plan].requestsPerMinute,
      resetSeconds: secondsToNextWindow(nowMs, WINDOW_SECONDS),
    },
  };
};
