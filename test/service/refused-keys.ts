/** Keys that are no longer valid: refused at once, although the gateway caches authorizer decisions for minutes. */
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

let target: Target;
let table: Table;
let admin: Administration;

const list = (key: string): Promise<Reply> => call(target, '/v1/users', { key });

/** Returns a key of a new seller after its first use, so that the gateway has cached its authorizer decision. */
const usedKey = async () => {
  const { seller_id } = await createSeller(admin, 'Short-lived');
  const scopes = ['users:read'] as const;
  const issued = await issueKey(admin, { sellerId: seller_id, name: 'short-lived', plan: 'free', scopes });
  expect((await list(issued.secret)).status).toBe(200);
  return { ...issued, seller_id };
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
  });
};
