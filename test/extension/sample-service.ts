import { tokenBuckets } from '#local/gateway/token-buckets.ts';
import { gateway } from '#local/gateway.ts';
import { listenOnLoopback } from '#local/loopback-server.ts';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { policyFor } from '#shared/api-keys/caller.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import { systemClock } from '#shared/clock.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import type { Route } from '#shared/route.ts';
import type { Scope } from '#shared/scopes.ts';
import { unlimitedPlans } from '#test/fakes/gateway-plans.ts';
import type { Target } from '#test/scenarios/target.ts';
import { patientLimiter } from '#test/shared/rate-limits/patient-limiter.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import { sampleFunction, sampleKeyFunction, sampleKeyRoute, sampleRoute } from './sample-endpoint.ts';

export const SELLER_ID = 'sel_sample';

/** Epoch seconds, in 2100. */
export const EXPIRES_AT = 4_102_444_800;

const secretOf = (keyId: string, plan: PlanName, scopes: readonly Scope[]): KeySecret => ({
  seller_id: SELLER_ID,
  key_id: keyId,
  scopes: [...scopes],
  plan,
  usage_id: keyId,
  status: 'active',
  seller_status: 'active',
  number: 1,
});

const SECRETS = {
  free: secretOf('key_free', 'free', ['users:read', 'users:write']),
  professional: secretOf('key_professional', 'professional', ['users:read', 'users:write']),
  read_only: { ...secretOf('key_read', 'professional', ['users:read']), expires_at: EXPIRES_AT },
  write_only: secretOf('key_write', 'professional', ['users:write']),
  app: secretOf('key_app', 'professional', ['buyers:register']),
  events: secretOf('key_events', 'professional', ['users:read', 'users:write', 'events:read']),
  rotate: secretOf('key_rotate', 'professional', ['users:read', 'key:rotate']),
};

type KeyName = keyof typeof SECRETS;

/** The local gateway over a route table of its own, in this process. Stop it in afterAll. */
export const startSampleService = async (routes: readonly Route[]) => {
  const table = await startEmbeddedTable();
  const notes = new Map<string, string>();
  const keys = Object.fromEntries(
    Object.keys(SECRETS).map((name) => [name, newApiKey('blk_test_')]),
  ) as Record<KeyName, string>;
  const secrets = new Map(Object.entries(keys).map(([name, key]) => [key, SECRETS[name as KeyName]]));
  const common = { clock: systemClock, rateLimiter: patientLimiter(table) };
  const serve = gateway({
    routes,
    functions: {
      authorizer: async (event) => {
        const key = Object.entries(event.headers ?? {}).find(
          ([name]) => name.toLowerCase() === 'x-api-key',
        )?.[1];
        const secret = secrets.get(key ?? '');
        if (secret === undefined) throw new Error('Unauthorized');
        return policyFor(secret, event.methodArn, routes);
      },
      endpoints: new Map([
        [sampleRoute.name, sampleFunction({ notes, ...common })],
        [sampleKeyRoute.name, sampleKeyFunction(common)],
      ]),
    },
    usagePlans: unlimitedPlans,
    otpAccess: 'api-key',
    buckets: tokenBuckets(systemClock),
    clock: systemClock,
    onCompleted: () => {},
  });
  const server = await listenOnLoopback(0, serve);
  const baseUrl = `http://localhost:${server.port}`;
  const target: Target = {
    baseUrl,
    issuer: baseUrl,
    sellerId: SELLER_ID,
    keys,
    otherSeller: { seller_id: 'sel_other', key: '' },
    // The row is not in the published document.
    hasForeignRefusals: true,
  };
  return {
    target,
    notes,
    async stop() {
      await server.close();
      await table.stop();
    },
  };
};
