import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, itemsOf, linked, linkOf, storeWhose, withExternalId } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

describe('the external id of a user', () => {
  it('is stored with the id of the user only, until its removal', async () => {
    await createSeller(table, 'sel_copy');
    const user = await linked(store, withExternalId(linkOf('sel_copy', 'sara'), 'order:1'));
    expect(await itemsOf(table, 'EXTERNAL#sel_copy')).toEqual([
      { pk: 'EXTERNAL#sel_copy#order:1', sk: 'EXTERNAL', user_id: user.id },
    ]);
    await store.removeUser('sel_copy', user.id, { removedAt: '2026-11-21T09:00:00.000Z', reason: 'seller' });
    expect(await itemsOf(table, 'EXTERNAL#sel_copy')).toEqual([]);
  });

  it('finds the user who got it while it was read, and nobody if it was cleared', async () => {
    await createSeller(table, 'sel_passed');
    const first = await linked(store, withExternalId(linkOf('sel_passed', 'first'), 'order:1'));
    const second = await linked(store, linkOf('sel_passed', 'second'));
    const give = (id: string, external_id: string | null) =>
      store.updateUser('sel_passed', id, {
        update: { external_id },
        updatedAt: '2026-11-21T09:00:00.000Z',
      });
    const changes = [
      async () => {
        await give(first.id, null);
        await give(second.id, 'order:1');
      },
      async () => void (await give(second.id, null)),
    ];
    const racing = interceptedTable(table, async (_command, send) => {
      const result = await send();
      await changes.shift()?.();
      return result;
    });
    const found = await userStore(racing).findByExternalId('sel_passed', 'order:1');
    expect([found, changes.length]).toEqual([undefined, 0]);
    await give(first.id, 'order:1');
    changes.push(async () => {
      await give(first.id, null);
      await give(second.id, 'order:1');
    });
    const passed = await userStore(racing).findByExternalId('sel_passed', 'order:1');
    expect(passed).toEqual({ ...second, external_id: 'order:1' });
  });

  it('refuses a link if another user takes it after it was read', async () => {
    await createSeller(table, 'sel_taken');
    const overtaken = storeWhose(table, async (send) => {
      await linked(store, withExternalId(linkOf('sel_taken', 'first'), 'order:1'));
      return send();
    });
    const link = withExternalId(linkOf('sel_taken', 'second'), 'order:1');
    expect(await overtaken.link(link)).toEqual({ written: false, reason: 'external_id_taken' });
    const noLimits = { limits: [], nowMs: 0 };
    expect((await store.readPerson({ ...link, ...noLimits, externalId: 'order:1' })).isExternalIdTaken).toBe(
      true,
    );
    expect((await store.readPerson({ ...link, ...noLimits })).isExternalIdTaken).toBe(false);
  });
});
