import { setTimeout as pause } from 'node:timers/promises';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import type { Call } from './call.ts';
import { type Check, ensure, expectHeaders, expectProblem, expectStatus } from './check.ts';
import type { TestKeys } from './test-keys.ts';

/** The longest time until all of API Gateway has a new key, and the pause between two attempts. */
const KEY_WITHIN_MS = 60_000;
const PAUSE_MS = 1000;

/** Waits until the service accepts a new key, or refuses only its scope. */
const untilAccepted = async (call: Call, key: string): Promise<void> => {
  const deadlineMs = performance.now() + KEY_WITHIN_MS;
  for (;;) {
    const { status } = await call('/v1/users', { key });
    if (status !== 401) return;
    ensure(performance.now() < deadlineMs, `status 401 for ${KEY_WITHIN_MS / 1000} s`);
    await pause(PAUSE_MS);
  }
};

/** Returns the checks that need keys and no person. */
export const keyChecks = (call: Call, { secrets }: TestKeys): readonly Check[] => [
  {
    title: 'the new keys are accepted',
    async run() {
      await Promise.all(Object.values(secrets).map((key) => untilAccepted(call, key)));
    },
  },
  {
    title: 'GET /v1/users is 200, with its headers',
    async run() {
      const reply = await call('/v1/users', { key: secrets.shop });
      expectStatus(reply, 200);
      expectHeaders(reply, 'ratelimit', 'ratelimit-policy', 'cache-control');
      const { data } = (reply.json() ?? {}) as { data?: unknown };
      ensure(Array.isArray(data), 'the body has no list "data"');
    },
  },
  {
    title: 'GET /v1/users?page=0 is 422 validation_failed',
    async run() {
      expectProblem(await call('/v1/users?page=0', { key: secrets.shop }), 'validation_failed');
    },
  },
  {
    title: 'GET /v1/users/usr_unknown is 404 user_not_found',
    async run() {
      expectProblem(await call('/v1/users/usr_unknown', { key: secrets.shop }), 'user_not_found');
    },
  },
  {
    title: 'POST /v1/users with a read-only key is 403 insufficient_scope',
    needsGateway: true,
    async run() {
      expectProblem(await call('/v1/users', { key: secrets.reader, body: {} }), 'insufficient_scope');
    },
  },
];

/** Returns the check that a revoked key is refused. It comes last among the checks with keys. */
export const revocationCheck = (call: Call, { admin, ids, secrets }: TestKeys): Check => ({
  title: 'GET /v1/users with a revoked key is 401 invalid_api_key',
  needsGateway: true,
  async run() {
    await revokeKey(admin, ids.shop);
    expectProblem(await call('/v1/users', { key: secrets.shop }), 'invalid_api_key');
  },
});
