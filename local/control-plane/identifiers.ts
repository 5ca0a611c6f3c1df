import { planTable } from '#shared/rate-limits/plans.ts';

/** The one API and the one stage that there are locally. */
export const LOCAL_API_ID = 'local';
export const LOCAL_STAGE_NAME = 'local';

/** The ids of the usage plans, by plan name. */
export const LOCAL_PLAN_IDS = planTable((plan) => `local${plan}`);
