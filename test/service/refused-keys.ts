/** Keys that are no longer valid: refused at once or to the second, although the gateway caches authorizer decisions for minutes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Administration } from '#admin/administration.ts';
import { revokeKey } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller, setSellerStatus } from '#admin/operations/sellers.ts';
import { localAdministration } from '#local/administration.ts';
import { setLocalCredentials, TABLE_NAME } from '#local/environment.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { call, expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import type { Target } from '#test/scenarios/target.ts';
import { localTarget } from './local-target.ts';
import type { RunningService } from './running-service.ts';

const POLL_MS = 50;

let target: Target;
let table: Table;
let admin: Administration;

const list = (key: string): Promise<Reply> => call(target, '/v1/users', { key });

const newKey = async (expiresAt?: number) => {
  const { seller_id } = await createSeller(admin, 'Short-lived');
  const issued = await issueKey(admin, {
    sellerId: seller_id,
    name: 'short-lived',
    plan: 'free',
    scopes: ['users:read'],
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  return { ...issued, seller_id };
};

/** Returns a key of a new seller after its first use, so that the gateway has cached its authorizer decision. */
const usedKey = async () => {
  const issued = await newKey();
  expect((await list(issued.secret)).status).toBe(200);
  return issued;
};

/** Returns a used key that expires soon. On a busy machine a key may expire before its first use: the next one lives twice as long. */
const usedExpiringKey = async (lifetimeSeconds = 2): Promise<{ secret: string; expiresAt: number }> => {
  const expiresAt = Math.floor(Date.now() / 1000) + lifetimeSeconds;
  const { secret } = await newKey(expiresAt);
  const { status } = await list(secret);
  return status === 200 ? { secret, expiresAt } : usedExpiringKey(2 * lifetimeSeconds);
};

/** Keys of a running service that are no longer valid. */
export const refusedKeyTests = (service: () => RunningService): void => {
  describe('a key that is no longer valid', () => {
    beforeAll(() => {
      const { demo } = service();
      target = localTarget(demo);
      setLocalCredentials();
      table = openTable(TABLE_NAME, demo.dynamodb_endpoint);
      admin = localAdministration(table, 'local:tester');
    });
    afterAll(() => table.client.destroy());

    it('is refused with the same bytes as a missing key', async () => {
      const revoked = await usedKey();
      await revokeKey(admin, revoked.key.key_id);
      const suspended = await usedKey();
      await setSellerStatus(admin, suspended.seller_id, 'suspended');
      const replies = [
        await call(target, '/v1/users'),
        await list(revoked.secret),
        await list(suspended.secret),
      ];
      for (const reply of replies) expectProblem(reply, 'invalid_api_key');
      expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
    });

    it('is refused from the second in which it expires', async () => {
      const { secret, expiresAt } = await usedExpiringKey();
      let reply = await list(secret);
      for (; reply.status === 200; reply = await list(secret)) await sleep(POLL_MS);
      const refusedAtMs = Date.now();
      expectProblem(reply, 'invalid_api_key');
      expect(withoutRequestId(reply)).toBe(withoutRequestId(await call(target, '/v1/users')));
      expect(reply.headers.get('ratelimit')).toBeNull();
      expect(refusedAtMs).toBeGreaterThanOrEqual(expiresAt * 1000);
    });
  });
};
