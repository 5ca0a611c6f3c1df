import { planTable } from '#shared/rate-limits/plans.ts';

/** The only API and the only stage of the simulator. */
export const API_ID = 'local';
export const STAGE_NAME = 'local';

/** The ids of the usage plans, by plan name. */
export const PLAN_IDS = planTable((plan) => `plan${plan}`);
