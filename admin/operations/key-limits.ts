import { type Administration, requireKey } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { keyLimit, type Limit, minuteLimit } from '#shared/rate-limits/limits.ts';
import { KEY_LIMIT_NAMES, type KeyLimitName, type LimitOverrides } from '#shared/rate-limits/plans.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { flushChange, requireActive, writeChange } from './change-key.ts';

/** An admin may be far from the Region. */
const TIMEOUT_MS = 10_000;

/** The state of one limit of a key in its current window. */
export interface LimitUsage {
  /** `requests-per-minute`, or the name of an hourly or daily limit. */
  readonly name: string;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Whether an admin replaced the plan's number for this key. */
  readonly isOverridden: boolean;
}

const usageOf = async (
  admin: Administration,
  limits: readonly (readonly [name: string, limit: Limit, isOverridden: boolean])[],
): Promise<LimitUsage[]> => {
  const states = await rateLimiter(admin.table, TIMEOUT_MS).read(
    limits.map(([, limit]) => limit),
    admin.clock(),
  );
  return limits.map(([name, { limit }, isOverridden], index) => {
    const { remaining = limit, resetSeconds = 0 } = states[index] ?? {};
    return { name, limit, used: limit - remaining, remaining, resetSeconds, isOverridden };
  });
};

const minuteRow = ({ key_id, plan }: ApiKey): readonly [string, Limit, boolean] => [
  'requests-per-minute',
  minuteLimit({ keyId: key_id, plan }),
  false,
];

/** Returns the state of the key's limit per minute. */
export const minuteUsage = async (admin: Administration, key: ApiKey): Promise<LimitUsage> => {
  const [usage] = await usageOf(admin, [minuteRow(key)]);
  return usage as LimitUsage;
};

/** Returns the state of every limit of a key: the plan's limit per minute first, then the hourly and daily limits. */
export const readKeyLimits = async (admin: Administration, keyId: string): Promise<LimitUsage[]> => {
  const key = await requireKey(admin, keyId);
  const { key_id, plan, limits } = key;
  return usageOf(admin, [
    minuteRow(key),
    ...KEY_LIMIT_NAMES.map((name): readonly [string, Limit, boolean] => [
      name,
      keyLimit(name, { keyId: key_id, plan, limits: limits ?? {} }),
      limits?.[name] !== undefined,
    ]),
  ]);
};

/** A change of the overrides of a key: numbers to set, names that go back to the plan's number. */
export interface LimitChange {
  readonly set: LimitOverrides;
  readonly unset: readonly KeyLimitName[];
}

const overridesAfter = (before: LimitOverrides, { set, unset }: LimitChange): LimitOverrides =>
  Object.fromEntries(
    Object.entries({ ...before, ...set }).filter(([name]) => !unset.includes(name as KeyLimitName)),
  );

const overridesText = (overrides: LimitOverrides): string =>
  Object.entries(overrides)
    .map(([name, limit]) => `${name}=${limit}`)
    .sort()
    .join(' ') || 'none';

/** Overrides hourly and daily limits of a key, at once. The plan's limit per minute cannot be overridden. */
export const setKeyLimits = async (
  admin: Administration,
  keyId: string,
  change: LimitChange,
): Promise<ApiKey> => {
  const { after } = await writeChange(admin, keyId, {
    step: 'limits: write the limits',
    plan: (key) => {
      const { limits: before = {}, ...rest } = requireActive(key);
      const overrides = overridesAfter(before, change);
      return {
        after: Object.keys(overrides).length === 0 ? rest : { ...rest, limits: overrides },
        action: 'key.limits_set',
        details: { from: overridesText(before), to: overridesText(overrides) },
      };
    },
  });
  await flushChange(admin, 'limits', after);
  return after;
};
