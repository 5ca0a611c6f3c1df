import { type Delivery, ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';

/** A provider that gives no verdict, for a reason. */
export const unavailableBecause = (
  reason: UnavailableReason,
  details: {
    readonly retryAfterSeconds?: number;
    readonly cause?: unknown;
    readonly delivery?: Delivery;
  } = {},
): ProviderUnavailable =>
  new ProviderUnavailable({ provider: 'fake', operation: 'identity' }, reason, {
    delivery: 'not_sent',
    ...details,
  });
