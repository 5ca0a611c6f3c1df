import { ownKeyRotator } from '#shared/api-keys/own-key.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { newSecret } from '#shared/api-keys/secret.ts';
import { HOUR_SECONDS, timeText } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';

const route = apiKeyRoutes['rotate-key'];

/** Throws `too_many_secrets`, or `invalid_api_key` if the key was revoked or the secret has ended. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { body, caller },
  { keys, keyPrefix, clock },
) => {
  const nowMs = clock();
  const secret = newSecret(keyPrefix, { created_at: new Date(nowMs).toISOString(), created_by: 'seller' });
  const result = await keys.rotate(caller, {
    secret,
    graceSeconds: body.grace_hours * HOUR_SECONDS,
    nowMs,
  });
  if (!result.written) throw problem(result.reason);
  return {
    status: 201,
    body: {
      secret: secret.text,
      last_four: secret.summary.last_four,
      old_secret_expires_at: timeText(result.value),
    },
  };
};

export const build = ({ table, clock }: KeyedParts) => ({
  keys: { rotate: ownKeyRotator(table) },
  keyPrefix: readEnv(['KEY_PREFIX']).KEY_PREFIX,
  clock,
});

export const handler = keyedEndpoint(route, build, handle);
