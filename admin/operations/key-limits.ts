import { type Administration, requireKey } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import {
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
  minuteLimit,
} from '#shared/rate-limits/plans.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';
import { changeKey, fromTo, requireActive } from './change-key.ts';

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

/** Returns the requests of a key by day (UTC), oldest first: the days with requests among the last ones, today included. */
export const readDailyUse = async ({ table, clock }: Administration, keyId: string, dayCount: number) => {
  const { data } = await useReader(table)(keyId, dayCount, clock());
  const firstDay = dayOf(clock() - (dayCount - 1) * DAY_MS);
  const byDay = Map.groupBy(data, ({ hour }) => hour.slice(0, firstDay.length));
  return [...byDay]
    .map(([day, hours]) => ({ day, requests: hours.reduce((sum, { requests }) => sum + requests, 0) }))
    .filter(({ day, requests }) => day >= firstDay && requests > 0);
};

const overridesText = (overrides: LimitOverrides): string =>
  Object.entries(overrides)
    .map(([name, limit]) => `${name}=${limit}`)
    .sort()
    .join(' ') || 'none';

/** Overrides hourly and daily limits of a key, at once; those of `unset` go back to the plan's number. The limit per minute follows from the plan. */
export const setKeyLimits = (
  admin: Administration,
  keyId: string,
  { set, unset }: { readonly set: LimitOverrides; readonly unset: readonly KeyLimitName[] },
): Promise<ApiKey> =>
  changeKey(admin, keyId, {
    action: 'key.limits_set',
    change(key) {
      const { limits: before = {}, ...rest } = requireActive(key);
      const limits: LimitOverrides = { ...before, ...set };
      for (const name of unset) delete limits[name];
      return Object.keys(limits).length === 0 ? rest : { ...rest, limits };
    },
    details: fromTo((key) => overridesText(key.limits ?? {})),
  });
