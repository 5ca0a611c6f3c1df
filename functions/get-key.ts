import { secretEnd } from '#shared/api-keys/api-key-item.ts';
import { ownKeyReader } from '#shared/api-keys/own-key.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { validSecrets } from '#shared/api-keys/secret.ts';
import { timeText } from '#shared/clock.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem, serviceUnavailable } from '#shared/problems.ts';
import type { RateLimitItem } from '#shared/rate-limits/headers.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { LimitState } from '#shared/rate-limits/limit.ts';

const route = apiKeyRoutes['get-key'];

const endText = (end: number | undefined): string | null => (end === undefined ? null : timeText(end));

const shownLimit = ({ name, limit, remaining, resetSeconds }: Omit<RateLimitItem, 'windowSeconds'>) => ({
  name,
  maximum: limit,
  remaining,
  resets_in: resetSeconds,
});

/** The hourly limits come with the count of the request, the daily one with the key. Without that count what remains is unknown. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { caller, counted },
  { keys, clock },
) => {
  const nowMs = clock();
  const daily = keyLimit('paid-checks-per-day', caller);
  if (counted === undefined) throw serviceUnavailable(new Error('the request was not counted'));
  const found = await keys.read(caller, daily, nowMs);
  if (found?.key.status !== 'active') throw problem('invalid_api_key');

  const { key, sellerName, limitState } = found;
  const hourly = route.limitsRead.map((name) => ({
    ...keyLimit(name, caller),
    ...(counted.hourly.get(name) as LimitState),
  }));
  const secrets = validSecrets(key, Math.floor(nowMs / 1000)).map((secret) => ({
    last_four: secret.last_four,
    expires_at: endText(secretEnd(key, secret)),
  }));
  return {
    status: 200,
    body: {
      id: key.key_id,
      name: key.name,
      seller: { id: key.seller_id, name: sellerName },
      plan: key.plan,
      scopes: key.scopes,
      expires_at: endText(key.expires_at),
      last_four: String(key.secrets[0]?.last_four),
      secrets,
      limits: [counted.plan, ...hourly, { ...daily, ...limitState }].map(shownLimit),
    },
  };
};

export const build = ({ table, clock }: KeyedParts) => ({ keys: { read: ownKeyReader(table) }, clock });

export const handler = keyedEndpoint(route, build, handle);
