import type { Demo } from '#local/service.ts';
import type { SentCode, Target } from '#test/scenarios/target.ts';

/** Returns the running local service as a target of scenarios. */
export const localTarget = ({ base_url, seller_id, keys, other_seller }: Demo): Target => ({
  baseUrl: base_url,
  issuer: base_url,
  sellerId: seller_id,
  keys,
  otherSeller: other_seller,
  async messages(phone) {
    const response = await fetch(`${base_url}/_local/messages?phone=${encodeURIComponent(phone)}`);
    expect(response.status).toBe(200);
    return (await response.json()) as SentCode[];
  },
});
