import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { AdminError } from '#admin/admin-error.ts';
import type { Administration } from '#admin/administration.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { retriedWrite } from '#shared/table/writes.ts';

/** More events than a seller has had since the restore point. */
export const EVENTS_AHEAD = 1_000_000;

/**
 * Raises the event numbers of every seller of a restored table that takes the place of the live one: a reader that has read an event which is
 * lost then gets `events_expired`, and no new event has the number of one that it has read. Each run raises them once more, which only makes
 * readers read all users once more. So an interrupted run is repeated. Returns the number of sellers. Throws `bad_input` without any.
 */
export const renumberEvents = async (admin: Administration, restored: Table): Promise<number> => {
  const sellers = await sellerStore(restored).list();
  if (sellers.length === 0) throw new AdminError('bad_input', `${restored.name} has no sellers.`);
  for (const { seller_id } of sellers) {
    const update = new UpdateCommand({
      TableName: restored.name,
      Key: sellerKey(seller_id),
      UpdateExpression: 'ADD event_count :ahead',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':ahead': EVENTS_AHEAD },
    });
    await retriedWrite(() => restored.client.send(update));
  }
  const details = { sellers: sellers.length, raised_by: EVENTS_AHEAD };
  await auditStore(restored).write(admin.record({ action: 'restore.renumbered', details }));
  return sellers.length;
};
