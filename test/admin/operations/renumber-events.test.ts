import { renumberEvents } from '#admin/operations/renumber-events.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { linkBuyer } from './linked-buyer.ts';
import { useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();

/** Two events before the restore point, and one that is lost. */
const restored = async () => {
  const { admin, clock, table, seller, newTable } = await newAdministration();
  const { seller_id: sellerId } = await seller();
  for (const phone of ['first', 'second']) await linkBuyer(table, sellerId, phone);
  const source = await newTable();
  await putAll(source, await itemsIn(table));
  await linkBuyer(table, sellerId, 'third');
  const reading = { sellerId, limit: 10, nowMs: clock() };
  return {
    admin,
    sellerId,
    source,
    readAfter: (after: number) => eventReads(source).listAfter(reading, after),
  };
};

describe('renumberEvents', () => {
  it('lets readers that have read all events, or a lost one, begin anew: none takes a new event for one that it has read', async () => {
    const { admin, source, readAfter } = await restored();
    expect(await readAfter(2)).toMatchObject({ events: [], last: 2 });
    expect(await renumberEvents(admin, source)).toBe(1);
    for (const after of [2, 3]) expect(await readAfter(after)).toBeUndefined();
    expect(await readAfter(1)).toMatchObject({ events: [{ sequence: 2 }], last: 1_000_002 });
    expect(await readAfter(1_000_002)).toMatchObject({ events: [], last: 1_000_002 });
  });

  it('raises the numbers once more when it runs again, and leaves a record of each run in the restored table', async () => {
    const { admin, source, readAfter } = await restored();
    await renumberEvents(admin, source);
    await renumberEvents(admin, source);
    expect(await readAfter(2_000_002)).toMatchObject({ events: [], last: 2_000_002 });
    const details = { sellers: 1, raised_by: 1_000_000 };
    const record = expect.objectContaining({ action: 'restore.renumbered', details });
    expect(await auditStore(source).list('deployment', { limit: 3 })).toEqual([record, record]);
  });

  it('refuses a table without sellers', async () => {
    const { admin, sellerId, source } = await restored();
    await deleteAll(source, [sellerKey(sellerId)]);
    await expect(renumberEvents(admin, source)).rejects.toMatchObject({ code: 'bad_input' });
  });
});
