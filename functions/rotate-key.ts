import { ownKeyRotator } from '#shared/api-keys/own-key.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { newSecret } from '#shared/api-keys/secret.ts';
import { timeText } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { HOUR_SECONDS } from '#shared/rate-limits/plans.ts';
import { keyLimits } from '#shared/rate-limits/request-limits.ts';

const route = apiKeyRoutes['rotate-key'];

/** Throws `too_many_secrets`, `rate_limit_exceeded`, or `invalid_api_key` if the key was revoked or the secret has ended. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (request, deps) => {
  const { body, caller, deadlineMs } = request;
  const { keys, keyPrefix, clock } = deps;
  const refund = await keyLimits(deps, request).consume('rotations-per-hour');
  const nowMs = clock();
  const secret = newSecret(keyPrefix, { created_at: new Date(nowMs).toISOString(), created_by: 'seller' });
  const result = await keys.rotate(caller, {
    secret,
    graceSeconds: body.grace_hours * HOUR_SECONDS,
    nowMs,
    deadlineMs,
  });
  if (!result.written) {
    await refund();
    throw problem(result.reason === 'in_use' ? 'too_many_secrets' : 'invalid_api_key');
  }
  return {
    status: 201,
    body: {
      secret: secret.text,
      last_four: secret.summary.last_four,
      old_secret_expires_at: timeText(result.value),
    },
  };
};

export const build = ({ table, rateLimiter, clock }: KeyedParts) => ({
  keys: { rotate: ownKeyRotator(table) },
  rateLimiter,
  keyPrefix: readEnv(['KEY_PREFIX']).KEY_PREFIX,
  clock,
});

export const handler = keyedEndpoint(route, build, handle);
