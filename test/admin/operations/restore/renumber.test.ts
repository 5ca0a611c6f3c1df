import { renumberEvents } from '#admin/operations/restore/renumber.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import { deleteAll } from '#admin/stores/batches.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { useDamagedDeployment } from './damaged-deployment.ts';

const newDeployment = useDamagedDeployment();

/** Two events before the restore point, and one that is lost. */
const restored = async () => {
  const live = await newDeployment();
  for (const person of ['Sara', 'Reza']) await live.link(person);
  const source = await live.takeRestorePoint();
  await live.link('Omid');
  const reading = { sellerId: live.sellerId, limit: 10, nowMs: live.clock() };
  return { live, source, readAfter: (after: number) => eventReads(source).listAfter(reading, after) };
};

describe('renumber', () => {
  it('lets readers that have read all events, or a lost one, begin anew: none takes a new event for one that it has read', async () => {
    const { live, source, readAfter } = await restored();
    expect(await readAfter(2)).toMatchObject({ events: [], last: 2 });
    expect(await renumberEvents(live.admin, source)).toBe(1);
    for (const after of [2, 3]) expect(await readAfter(after)).toBeUndefined();
    expect(await readAfter(1)).toMatchObject({ events: [{ sequence: 2 }], last: 1_000_002 });
    expect(await readAfter(1_000_002)).toMatchObject({ events: [], last: 1_000_002 });
  });

  it('raises the numbers once more when it runs again, and leaves a record of each run in the restored table', async () => {
    const { live, source, readAfter } = await restored();
    await renumberEvents(live.admin, source);
    await renumberEvents(live.admin, source);
    expect(await readAfter(2_000_002)).toMatchObject({ events: [], last: 2_000_002 });
    const details = { sellers: 1, raised_by: 1_000_000 };
    const record = expect.objectContaining({ action: 'restore.renumbered', details });
    expect(await auditStore(source).list('deployment', { limit: 3 })).toEqual([record, record]);
  });

  it('refuses a table without sellers', async () => {
    const { live, source } = await restored();
    await deleteAll(source, [sellerKey(live.sellerId)]);
    await expect(renumberEvents(live.admin, source)).rejects.toMatchObject({ code: 'bad_input' });
  });
});
