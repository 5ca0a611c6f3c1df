import * as v from 'valibot';
import { logEvent } from '#shared/log.ts';
import { PLAN_NAMES, type PlanName, SMALLEST_PLAN } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { StoredItem } from '#shared/table/writes.ts';

const isOneOf = <Value extends string>(values: readonly Value[], value: string): value is Value =>
  values.some((known) => known === value);

/** Returns the plan by which the API serves a key: the smallest one for a plan that this version does not know. */
export const servedPlan = (plan: string): PlanName => (isOneOf(PLAN_NAMES, plan) ? plan : SMALLEST_PLAN);

const storedSchema = v.looseObject({ key_id: v.string(), scopes: v.array(v.string()), plan: v.string() });

interface KeyValues {
  readonly key_id: string;
  readonly scopes: readonly string[];
  readonly plan: string;
}

interface KnownValues {
  readonly scopes: Scope[];
  readonly plan: PlanName;
}

/**
 * Reduces the scopes and the plan of a key to what this version knows: a later version may have written them, before a rollback or while it
 * comes. An unknown scope is left out, an unknown plan is the smallest one.
 */
const knownValues = ({ scopes, plan }: KeyValues): KnownValues => ({
  scopes: scopes.filter((scope) => isOneOf(SCOPES, scope)),
  plan: servedPlan(plan),
});

/** The same, and logs the others. */
export const loggedKnownValues = (key: KeyValues): KnownValues => {
  const { key_id, scopes, plan } = key;
  const known = knownValues(key);
  const unknown = scopes.filter((scope) => !isOneOf(SCOPES, scope));
  if (unknown.length > 0 || plan !== known.plan) {
    logEvent('key_values_unknown', {
      key_id,
      unknown_scopes: unknown.join(' '),
      unknown_plan: plan === known.plan ? undefined : plan,
    });
  }
  return known;
};

/** The item of a key or of a secret with what `reduce` returns of it. */
export const withKnownValues = (item: StoredItem, reduce = knownValues): StoredItem => ({
  ...item,
  ...reduce(v.parse(storedSchema, item)),
});
