import { type RestApi, type Stage, UsagePlan } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { PLAN_NAMES, PLANS, type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';

/** Adds an API Gateway usage plan for each plan of shared/rate-limits/plans.ts. The admin CLI adds the keys. */
export const addUsagePlans = (
  scope: Construct,
  { api, stage, name }: { readonly api: RestApi; readonly stage: Stage; readonly name: string },
): Readonly<Record<PlanName, UsagePlan>> => {
  const planOf = (plan: PlanName): UsagePlan =>
    new UsagePlan(scope, `UsagePlan-${plan}`, {
      name: `${name}-${plan}`,
      description: `${PLANS[plan].requestsPerMinute} requests a minute`,
      throttle: usagePlanThrottle(plan),
      apiStages: [{ api, stage }],
    });
  return Object.fromEntries(PLAN_NAMES.map((plan) => [plan, planOf(plan)])) as Record<PlanName, UsagePlan>;
};
