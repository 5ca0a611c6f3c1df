import type { ProviderReply } from './exchange.ts';
import {
  type CallSite,
  type ProviderUnavailable,
  type UnavailableReason,
  unavailable,
} from './unavailable.ts';

/**
 * The failure of an answer that is not in the provider's documented form, as far as the HTTP status tells. It may come from a box
 * between us and the provider, so it does not say that the provider did not act.
 */
export const undocumented = (site: CallSite, { status }: ProviderReply): ProviderUnavailable =>
  unavailable(site, reasonOf(status), { refused: false });

const reasonOf = (status: number): UnavailableReason => {
  if (status >= 500) return 'upstream';
  if (status === 401) return 'credentials';
  if (status === 403) return 'blocked';
  if (status === 429) return 'quota';
  return 'malformed';
};
