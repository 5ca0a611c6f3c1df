/** What a change takes from a key, for the question that the CLI asks before. */
import type { Administration } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { servedPlan } from '#shared/api-keys/known-values.ts';
import { KEY_LIMIT_NAMES, type KeyLimitName, keyLimit } from '#shared/rate-limits/key-limits.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';
import { expiryText } from './issue-key.ts';

/** The most that a key used of each limit in one of its windows. */
type PeakUse = Readonly<Record<KeyLimitName, number>>;

const PEAK_DAYS = 7;

/** Reads the peaks of the last seven days. */
export const readPeakUse = async ({ table, clock }: Administration, keyId: string): Promise<PeakUse> => {
  const { data: hours, paid_checks: days } = await useReader(table)(keyId, PEAK_DAYS, clock());
  const most = (counts: readonly number[]): number => Math.max(0, ...counts);
  return {
    'sms-per-hour': most(hours.map(({ sms }) => sms)),
    'failed-checks-per-hour': most(hours.map(({ failed_checks }) => failed_checks)),
    'refused-links-per-hour': most(hours.map(({ refused_links }) => refused_links)),
    'failed-verifies-per-hour': most(hours.map(({ failed_verifies }) => failed_verifies)),
    'paid-checks-per-day': most(days.map(({ count }) => count)),
  };
};

const number = (count: number): string => count.toLocaleString('en');

/** A scope, a smaller plan, a limit below its use, or an earlier end. */
export const lossesOf = (
  { before, after }: { readonly before: ApiKey; readonly after: ApiKey },
  { peaks, registryIsSandbox }: { readonly peaks: PeakUse; readonly registryIsSandbox: boolean },
): readonly string[] => {
  const scopes = before.scopes
    .filter((scope) => !after.scopes.includes(scope))
    .map((scope) => `scope ${scope}`);
  const [had, has] = [before, after].map(({ plan }) => PLANS[servedPlan(plan)].requestsPerMinute) as [
    number,
    number,
  ];
  const plan = has < had ? [`${number(had - has)} of ${number(had)} requests a minute`] : [];
  const limitOf = (name: KeyLimitName, { key_id: keyId, plan, limits = {} }: ApiKey): number =>
    keyLimit(name, { keyId, plan: servedPlan(plan), limits, registryIsSandbox }).limit;
  const limits = KEY_LIMIT_NAMES.flatMap((name) => {
    const [from, to] = [limitOf(name, before), limitOf(name, after)];
    const isBelowUse = to < from && to < peaks[name];
    return isBelowUse ? [`${name} ${number(from)} → ${number(to)} (it used ${number(peaks[name])})`] : [];
  });
  const endOf = ({ expires_at = Number.POSITIVE_INFINITY }: ApiKey): number => expires_at;
  const end = endOf(after) < endOf(before) ? [`the time after ${expiryText(after.expires_at)}`] : [];
  return [...scopes, ...plan, ...limits, ...end];
};
