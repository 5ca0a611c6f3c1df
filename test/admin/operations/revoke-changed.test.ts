import { setExpiry } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { revokeChanged } from '#admin/operations/revoke-changed.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import type { Scope } from '#shared/scopes.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { itemsIn, restoredFrom } from './restored-table.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const RESTORE_POINT = '2026-11-21T12:00:00Z';
/** The clock of API Gateway. */
const clock = fakeClock('2026-11-21T10:00:00Z');
const newAdministration = useAdministration({ clock });

type Change = (
  deployment: TestAdministration,
  key: { readonly key_id: string; readonly seller_id: string },
) => Promise<unknown>;

const setExpiryOf: Change = ({ admin }, { key_id }) => setExpiry(admin, key_id, admin.clock() / 1000 + 60);

const CHANGES: Readonly<Record<string, Change>> = {
  revoked: ({ admin }, { key_id }) => revokeKey(admin, key_id),
  'rotated, so that its leaked secret ended': ({ admin }, { key_id }) => rotateKey(admin, key_id, 0),
  'given an expiry': setExpiryOf,
  suspended: ({ admin }, { seller_id }) => setSellerStatus(admin, seller_id, 'suspended'),
};

/** A restored table: one key has not been changed since the restore point, and another one by `change`. */
const restored = async (
  change: Change,
  { changedAt = '2026-11-21T13:00:00Z', scopes = ['users:read'] as readonly Scope[] } = {},
) => {
  clock.set('2026-11-21T10:00:00Z');
  const deployment = await newAdministration();
  const [unchanged, changed] = [await deployment.issued(), await deployment.issued({ scopes })];
  const snapshot = await itemsIn(deployment.table);
  clock.set(changedAt);
  await change(deployment, changed.key);
  return { deployment, unchanged, changed, admin: await restoredFrom(deployment, snapshot) };
};

describe('revokeChanged', () => {
  it.each(Object.entries(CHANGES))(
    'revokes a key that was %s after the restore point, and no other',
    async (_name, change) => {
      const { admin, unchanged, changed, deployment } = await restored(change);
      const { revoked, deleted } = await revokeChanged(admin, Date.parse(RESTORE_POINT));
      expect(revoked.map(({ key_id }) => key_id)).toEqual([changed.key.key_id]);
      expect(deleted).toBe(0);
      expect((await reconcile(admin, { fix: true })).findings).toEqual([]);
      expect(await deployment.gatewayKeys()).toMatchObject([
        { id: unchanged.key.gateway_key_id, enabled: true },
      ]);
      await expect(revokeChanged(admin, 0)).rejects.toMatchObject({ code: 'already_replayed' });
    },
  );

  it.each(Object.entries(CHANGES))(
    'revokes a key that was %s after the restore point, by a command that was interrupted right after its write to the table',
    async (_name, change) => {
      const { admin, changed } = await restored((deployment, key) =>
        // The note in API Gateway and the write come before.
        deployment.interruptedBefore(2, () => change(deployment, key)),
      );
      const { revoked } = await revokeChanged(admin, Date.parse(RESTORE_POINT));
      expect(revoked.map(({ key_id }) => key_id)).toEqual([changed.key.key_id]);
    },
  );

  it('revokes a key whose change was noted in the minute before the restore point, and written after it', async () => {
    const { admin, changed } = await restored(setExpiryOf, { changedAt: '2026-11-21T11:59:30Z' });
    const { revoked } = await revokeChanged(admin, Date.parse(RESTORE_POINT));
    expect(revoked.map(({ key_id }) => key_id)).toEqual([changed.key.key_id]);
  });

  it('revokes a key that its seller can rotate, since API Gateway does not know whether the seller did', async () => {
    const { admin, changed } = await restored(async () => {}, { scopes: ['key:rotate'] });
    const { revoked } = await revokeChanged(admin, Date.parse(RESTORE_POINT));
    expect(revoked.map(({ key_id }) => key_id)).toEqual([changed.key.key_id]);
  });

  it('deletes a key that was issued after the restore point from API Gateway', async () => {
    const { admin, deployment } = await restored((before, { seller_id: sellerId }) =>
      issueKey(before.admin, { sellerId, name: 'new', plan: 'free', scopes: ['users:read'] }),
    );
    expect(await revokeChanged(admin, Date.parse(RESTORE_POINT))).toEqual({ revoked: [], deleted: 1 });
    expect(await deployment.gatewayKeys()).toHaveLength(2);
  });
});
