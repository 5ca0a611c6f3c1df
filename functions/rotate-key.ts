import { type OwnKeyStore, ownKeyStore } from '#shared/api-keys/own-key.ts';
import { newSecret } from '#shared/api-keys/rotation.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { systemClock, timeText } from '#shared/clock.ts';
import { type KeyPrefix, readEnv } from '#shared/env.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';
import { HOUR_SECONDS } from '#shared/rate-limits/plans.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { tableFromEnv } from '#shared/table/client.ts';

const route = apiKeyRoutes['rotate-key'];

export interface RotateKeyDeps extends EndpointDeps {
  readonly keys: Pick<OwnKeyStore, 'rotate'>;
  readonly keyPrefix: KeyPrefix;
}

/** Gives the caller's key a new secret. Throws `too_many_secrets`; `invalid_api_key` if the key was revoked meanwhile. */
export const handle: Handle<typeof route, RotateKeyDeps> = async (
  { body, caller, withinPlan, deadlineMs },
  { keys, keyPrefix, clock },
) => {
  const nowMs = clock();
  const secret = newSecret(keyPrefix, { created_at: new Date(nowMs).toISOString(), created_by: 'seller' });
  const result = await keys.rotate(caller, {
    secret,
    graceSeconds: body.grace_hours * HOUR_SECONDS,
    nowMs,
    deadlineMs,
    mayWrite: withinPlan,
  });
  if (!result.written) throw problem(result.reason === 'in_use' ? 'too_many_secrets' : 'invalid_api_key');
  return {
    status: 201,
    body: {
      secret: secret.text,
      last_four: secret.summary.last_four,
      old_secret_expires_at: timeText(result.value),
    },
  };
};

/** Builds the dependencies from the environment. */
export const bind = (): RotateKeyDeps => {
  const { KEY_PREFIX } = readEnv(['KEY_PREFIX']);
  const table = tableFromEnv();
  return {
    clock: systemClock,
    rateLimiter: rateLimiterFromEnv(table),
    keys: ownKeyStore(table),
    keyPrefix: KEY_PREFIX,
  };
};

export const handler = endpoint(route, handle, bind);
