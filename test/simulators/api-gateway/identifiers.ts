import { planTable } from '#shared/rate-limits/plans.ts';

/** The id of the only API of the simulator. Its only stage is STAGE_NAME. */
export const API_ID = 'local';

/** The ids of the usage plans, by plan name. */
export const PLAN_IDS = planTable((plan) => `plan${plan}`);
