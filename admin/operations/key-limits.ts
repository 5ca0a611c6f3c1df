import { type Administration, requireKey } from '#admin/administration.ts';
import { inTurns } from '#admin/stores/batches.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { servedPlan } from '#shared/api-keys/known-values.ts';
import { HOUR_SECONDS } from '#shared/clock.ts';
import {
  KEPT_DAYS,
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
  minuteLimit,
} from '#shared/rate-limits/key-limits.ts';
import { windowOf } from '#shared/rate-limits/limit.ts';
import { countIn, limitKey, stateIn } from '#shared/rate-limits/rate-limiter.ts';
import { startOf } from '#shared/rate-limits/use-history.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { batchGet, itemOf, queryFirst } from '#shared/table/reads.ts';
import { changeKey, fromTo, requireActive } from './change-key.ts';

/** Returns the state of every limit of a key in its window, by the names of GET /v1/key: that of the plan first, then the hourly and daily limits. */
export const readKeyLimits = async (admin: Administration, keyId: string) => {
  const { plan: stored, limits = {} } = await requireKey(admin, keyId);
  const plan = servedPlan(stored);
  const all = [
    { ...minuteLimit({ keyId, plan }), shownName: plan, isOverridden: false },
    ...KEY_LIMIT_NAMES.map((name) => ({
      ...keyLimit(name, { keyId, plan, limits, registryIsSandbox: admin.registryIsSandbox }),
      shownName: name,
      isOverridden: limits[name] !== undefined,
    })),
  ];
  const nowMs = admin.clock();
  const keys = all.map((limit) => limitKey(limit, nowMs));
  const items = await batchGet(admin.table, keys);
  return all.map((limit) => {
    const item = itemOf(items, limitKey(limit, nowMs));
    const { remaining, resetSeconds } = stateIn(item, limit, nowMs);
    const { shownName: name, isOverridden } = limit;
    const used = countIn(item, limit, nowMs);
    return { name, limit: limit.limit, used, remaining, resetSeconds, isOverridden };
  });
};

/** Reads of keys at the same time: the SDK opens no more connections. */
const AT_ONCE = 50;

/**
 * Returns for each key, in turn, the day (UTC) of its latest request in the last 35 days; null without one. A request that the plan's limit
 * rejected is no use. One Query of one item per key.
 */
export const readLastUsedDays = async (
  { table, clock }: Administration,
  keyIds: readonly string[],
): Promise<(string | null)[]> => {
  const hour = windowOf(clock(), HOUR_SECONDS);
  const between = [limitSortKey('HOUR', hour - KEPT_DAYS * 24 + 1), limitSortKey('HOUR', hour)] as const;
  const latestHour = async (keyId: string): Promise<string | null> => {
    const range = { pk: limitsPartition(keyId), between, newestFirst: true, isEventuallyConsistent: true };
    const [latest] = await queryFirst(table, range, 1);
    return latest === undefined ? null : startOf(latest, HOUR_SECONDS);
  };
  return (await inTurns(keyIds, AT_ONCE, latestHour)).map(
    (latest) => latest?.slice(0, 'YYYY-MM-DD'.length) ?? null,
  );
};

const overridesText = (overrides: LimitOverrides): string =>
  Object.entries(overrides)
    .map(([name, limit]) => `${name}=${limit}`)
    .sort()
    .join(' ') || 'none';

/** The hourly and daily limits to override; those of `unset` go back to the plan's number. The limit per minute follows from the plan. */
interface LimitsChange {
  readonly set: LimitOverrides;
  readonly unset: readonly KeyLimitName[];
}

/** Returns a key with other limits. */
export const withLimits = (
  { limits: before = {}, ...rest }: ApiKey,
  { set, unset }: LimitsChange,
): ApiKey => {
  const limits: LimitOverrides = { ...before, ...set };
  for (const name of unset) delete limits[name];
  return Object.keys(limits).length === 0 ? rest : { ...rest, limits };
};

/** Changes the limits of a key. */
export const setKeyLimits = (
  admin: Administration,
  keyId: string,
  limitsChange: LimitsChange,
): Promise<ApiKey> =>
  changeKey(admin, keyId, {
    action: 'key.limits_set',
    change: (key) => withLimits(requireActive(key), limitsChange),
    details: fromTo((key) => overridesText(key.limits ?? {})),
  });
