import { type Administration, requireKey } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import {
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
  minuteLimit,
  PLAN_NAMES,
} from '#shared/rate-limits/plans.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { changeKey, requireActive } from './change-key.ts';

/** An admin may be far from the Region. */
const TIMEOUT_MS = 10_000;
const DAY_MS = 86_400_000;

/** Returns the state of every limit of a key in its window: the plan's limit per minute first, then the hourly and daily limits. */
export const readKeyLimits = async (admin: Administration, keyId: string) => {
  const { plan, limits = {} } = await requireKey(admin, keyId);
  const all = [
    { ...minuteLimit({ keyId, plan }), shownName: 'requests-per-minute', isOverridden: false },
    ...KEY_LIMIT_NAMES.map((name) => ({
      ...keyLimit(name, { keyId, plan, limits }),
      shownName: name,
      isOverridden: limits[name] !== undefined,
    })),
  ];
  const states = await rateLimiter(admin.table, TIMEOUT_MS).read(all, admin.clock());
  return all.map(({ shownName, limit, isOverridden }, index) => {
    const { remaining = limit, resetSeconds = 0 } = states[index] ?? {};
    return { name: shownName, limit, used: limit - remaining, remaining, resetSeconds, isOverridden };
  });
};

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/**
 * Returns the requests of a key by day (UTC), oldest first and today last, with 0 for days without requests. API Gateway counts by
 * plan, so the counts of all plans are added. A revoked key has none: API Gateway deletes them with it.
 */
export const readDailyUse = async (
  admin: Administration,
  { gateway_key_id: id }: ApiKey,
  dayCount: number,
): Promise<{ day: string; requests: number }[]> => {
  const nowMs = admin.clock();
  const days = Array.from({ length: dayCount }, (_, index) => dayOf(nowMs - (dayCount - 1 - index) * DAY_MS));
  const counts = new Map(days.map((day) => [day, 0]));
  for (const plan of id === undefined ? [] : PLAN_NAMES) {
    const used = await admin.usagePlans.usage(String(id), plan, String(days[0]), String(days.at(-1)));
    for (const { day, requests } of used) counts.set(day, (counts.get(day) ?? 0) + requests);
  }
  return days.map((day) => ({ day, requests: counts.get(day) ?? 0 }));
};

/** A change of the overrides of a key: numbers to set, names that go back to the plan's number. */
export interface LimitChange {
  readonly set: LimitOverrides;
  readonly unset: readonly KeyLimitName[];
}

const overridesText = (overrides: LimitOverrides): string =>
  Object.entries(overrides)
    .map(([name, limit]) => `${name}=${limit}`)
    .sort()
    .join(' ') || 'none';

/** Overrides hourly and daily limits of a key, at once. The plan's limit per minute cannot be overridden. */
export const setKeyLimits = (
  admin: Administration,
  keyId: string,
  { set, unset }: LimitChange,
): Promise<ApiKey> =>
  changeKey(admin, keyId, {
    name: 'limits',
    write: 'write the limits',
    action: 'key.limits_set',
    change: (key) => {
      const { limits: before = {}, ...rest } = requireActive(key);
      const limits: LimitOverrides = { ...before, ...set };
      for (const name of unset) delete limits[name];
      return {
        after: Object.keys(limits).length === 0 ? rest : { ...rest, limits },
        details: { from: overridesText(before), to: overridesText(limits) },
      };
    },
  });
