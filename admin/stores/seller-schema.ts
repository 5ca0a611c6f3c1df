import * as v from 'valibot';

export const SELLER_STATUSES = ['active', 'suspended'] as const;

export type SellerStatus = (typeof SELLER_STATUSES)[number];

/** A seller as it is stored. `user_count` is the ordinal of its newest user. */
export const sellerSchema = v.object({
  seller_id: v.string(),
  name: v.string(),
  status: v.picklist(SELLER_STATUSES),
  user_count: v.number(),
  created_at: v.string(),
  /** Since when a change waits for the flush of the authorizer's cache: set with the change, taken away after the flush. */
  unflushed_since: v.optional(v.string()),
});

export type Seller = v.InferOutput<typeof sellerSchema>;
