import type { GatewayPlans } from '#local/gateway/access-control.ts';

/** Every key is in a plan that it never uses up. */
export const unlimitedPlans: GatewayPlans = {
  flushes: async () => 0,
  throttleOf: async () => ({ rateLimit: 1e6, burstLimit: 1e6 }),
};
