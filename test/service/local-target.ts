import type { Demo } from '#local/demo-seeds.ts';
import type { Target } from '#test/scenarios/target.ts';

/** Returns the running local service as a target of scenarios. */
export const localTarget = ({ base_url, seller_id, keys, other_seller }: Demo): Target => ({
  baseUrl: base_url,
  issuer: base_url,
  sellerId: seller_id,
  keys,
  otherSeller: other_seller,
});
