import type { KeySecret } from './schema.ts';

/** Whether a secret opens anything now. Every reason why not looks the same to the caller. */
export const isUsable = (secret: KeySecret, nowMs: number): boolean =>
  secret.status === 'active' &&
  secret.seller_status === 'active' &&
  (secret.expires_at === undefined || secret.expires_at * 1000 > nowMs);
