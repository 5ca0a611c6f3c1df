/** A complete response of a provider, and the failures that it means. */
import { type CallSite, ProviderUnavailable, type UnavailableReason } from './unavailable.ts';

export interface ProviderReply {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Returns undefined for text that is not JSON. The parser's own error would quote the text. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Returns the failure of an error in the provider's documented form. `reason`: that of its code; undefined if the code is not documented,
 * then the provider may have acted.
 */
export const codedFailure = (
  site: CallSite,
  reply: ProviderReply,
  reason: UnavailableReason | undefined,
): ProviderUnavailable =>
  new ProviderUnavailable(site, reason ?? reasonOf(reply), {
    delivery: reason === undefined ? 'possibly_sent' : 'not_sent',
    health: 'up',
  });

/**
 * Returns the failure of a response in no documented form: some system between may have responded. JSON with a status below 500 may be
 * about one person, so it says nothing about the provider.
 */
export const unreadableReply = (site: CallSite, reply: ProviderReply): ProviderUnavailable =>
  new ProviderUnavailable(site, reasonOf(reply), {
    delivery: 'possibly_sent',
    health: reply.json === undefined || reply.status >= 500 ? 'down' : 'unknown',
  });

const reasonOf = ({ status, json }: ProviderReply): UnavailableReason => {
  if (status >= 500) return 'upstream';
  if (status === 401) return 'credentials';
  if (status === 403) return 'blocked';
  if (status === 429) return 'quota';
  return json === undefined ? 'malformed' : 'no_verdict';
};
