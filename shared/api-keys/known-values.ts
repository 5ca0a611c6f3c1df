import * as v from 'valibot';
import { logEvent } from '#shared/log.ts';
import { PLAN_NAMES, type PlanName, SMALLEST_PLAN } from '#shared/rate-limits/plans.ts';
import { SCOPES, type Scope } from '#shared/scopes.ts';
import type { StoredItem } from '#shared/table/writes.ts';

const isOneOf = <Value extends string>(values: readonly Value[], value: string): value is Value =>
  values.some((known) => known === value);

/** Returns the plan by which the API serves a key: the smallest one for a plan that this version does not know. */
export const servedPlan = (plan: string): PlanName => (isOneOf(PLAN_NAMES, plan) ? plan : SMALLEST_PLAN);

/**
 * Reduces the scopes and the plan of a key to what this version knows, and logs the others: a later version may have written them, before a
 * rollback or while it comes. An unknown scope is left out, an unknown plan is the smallest one.
 */
export const knownValues = (
  key_id: string,
  scopes: readonly string[],
  plan: string,
): { readonly scopes: Scope[]; readonly plan: PlanName } => {
  const known = {
    scopes: scopes.filter((scope) => isOneOf(SCOPES, scope)),
    plan: servedPlan(plan),
  };
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

const storedSchema = v.looseObject({ key_id: v.string(), scopes: v.array(v.string()), plan: v.string() });

/** The same of an item of a key or of a secret. */
export const withKnownValues = (item: StoredItem): StoredItem => {
  const { key_id, scopes, plan } = v.parse(storedSchema, item);
  return { ...item, ...knownValues(key_id, scopes, plan) };
};
