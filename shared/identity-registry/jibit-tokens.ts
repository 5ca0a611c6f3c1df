import * as v from 'valibot';
import { exchange, type ProviderReply } from '#shared/providers/exchange.ts';
import { type CallSite, type ProviderUnavailable, unavailable } from '#shared/providers/unavailable.ts';
import { undocumented } from '#shared/providers/undocumented.ts';
import { untilAborted } from '#shared/providers/until-aborted.ts';
import type { JibitCredentials } from './jibit.ts';
import { jibitRefusal } from './jibit-refusal.ts';

/** A renewal serves many callers, so it has a time of its own and does not end with the one who began it. */
const RENEWAL_TIMEOUT_MS = 5000;

const pairSchema = v.object({
  accessToken: v.pipe(v.string(), v.minLength(1)),
  refreshToken: v.pipe(v.string(), v.minLength(1)),
});

type TokenPair = v.InferOutput<typeof pairSchema>;

/**
 * The access tokens of one account. How long they live is documented nowhere, so they are taken as opaque and renewed when one is
 * refused: by the refresh token, or afresh where that is refused too. All callers share one renewal at a time.
 */
export const jibitTokens = (credentials: JibitCredentials) => {
  let pair: TokenPair | undefined;
  let renewal: Promise<TokenPair> | undefined;

  const post = (site: CallSite, path: string, body: Readonly<Record<string, string>>) =>
    exchange(
      site,
      {
        method: 'POST',
        url: `${credentials.base_url}${path}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      AbortSignal.timeout(RENEWAL_TIMEOUT_MS),
    );

  const obtain = async (site: CallSite): Promise<TokenPair> => {
    if (pair !== undefined) {
      const refreshed = await post(site, '/v1/tokens/refresh', pair);
      if (pairOf(refreshed) !== undefined) return pairOf(refreshed) as TokenPair;
    }
    const { api_key: apiKey, secret_key: secretKey } = credentials;
    const reply = await post(site, '/v1/tokens/generate', { apiKey, secretKey });
    const generated = pairOf(reply);
    if (generated === undefined) throw tokenFailure(site, reply);
    return generated;
  };

  const renew = (site: CallSite): Promise<TokenPair> => {
    renewal ??= obtain(site)
      .then((renewed) => {
        pair = renewed;
        return renewed;
      })
      .finally(() => {
        renewal = undefined;
      });
    // Whoever waits hears of it; if all have gone, nobody needs to.
    renewal.catch(() => {});
    return renewal;
  };

  const wait = async (site: CallSite, signal: AbortSignal): Promise<string> =>
    (await untilAborted(site, renew(site), signal)).accessToken;

  return {
    /** The access token of the moment; the first caller makes all others wait for it. */
    current: async (site: CallSite, signal: AbortSignal): Promise<string> =>
      renewal === undefined && pair !== undefined ? pair.accessToken : wait(site, signal),
    /** Another one than `refused`, which somebody else may have got meanwhile. */
    renewed: async (site: CallSite, refused: string, signal: AbortSignal): Promise<string> =>
      renewal === undefined && pair !== undefined && pair.accessToken !== refused
        ? pair.accessToken
        : wait(site, signal),
  };
};

const pairOf = ({ status, json }: ProviderReply): TokenPair | undefined => {
  const result = v.safeParse(pairSchema, json);
  return status === 200 && result.success ? result.output : undefined;
};

const SERVER_ERROR = 'server.error';

/** Any refusal of a token but the provider's own trouble says that the credentials are not right. */
const tokenFailure = (site: CallSite, reply: ProviderReply): ProviderUnavailable => {
  const code = jibitRefusal(reply);
  if (code === undefined) return undocumented(site, reply);
  const reason = code === SERVER_ERROR ? 'upstream' : 'credentials';
  return unavailable(site, reason, { refused: true });
};
