import { changeQueue } from '#local/gateway/queued-changes.ts';
import { userFrom } from '#shared/users/user-item.ts';
import { createSeller, inAnHour, linkOf } from '#test/shared/users/linking.ts';
import { type UserStore, userStore } from '#test/shared/users/user-store.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const people = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** The links of a store behind a queue. */
const queuedLinks = ({ link }: Pick<UserStore, 'link'>) => {
  const queued = changeQueue();
  return {
    link: (...args: Parameters<typeof link>) => queued(args[0].sellerId, () => link(...args)),
  };
};

describe('changeQueue', () => {
  it('makes fifty links of one seller at once with one transaction each, in their order', async () => {
    await createSeller(table, 'sel_queue');
    const counted = countedTable(table);
    const { link } = queuedLinks(userStore(counted.table));
    const names = people('queued', 50);
    await Promise.all(names.map((name) => link(linkOf('sel_queue', name), inAnHour())));
    expect(counted.rounds.flat().filter((call) => call === 'TransactWrite')).toHaveLength(50);
    const { users } = await userStore(table).listPage('sel_queue', 1, 100);
    expect(users.map(({ display_name }) => display_name)).toEqual(names);
  });

  it('does not let the links of one seller wait for those of another', async () => {
    const open = Promise.withResolvers<never>();
    const link: UserStore['link'] = ({ sellerId, user }) =>
      sellerId === 'sel_slow'
        ? open.promise
        : Promise.resolve({ written: true, value: userFrom({ ...user, id: 'usr_1' }) });
    const queued = queuedLinks({ link });
    const slow = queued.link(linkOf('sel_slow', 'slow'), inAnHour());
    expect((await queued.link(linkOf('sel_fast', 'fast'), inAnHour())).written).toBe(true);
    open.reject(new Error('the table is unreachable'));
    await expect(slow).rejects.toThrow('the table is unreachable');
  });

  it('makes the next link when one fails', async () => {
    const { link } = queuedLinks(userStore(table));
    const unknown = link(linkOf('sel_none', 'nobody'), inAnHour());
    await expect(unknown).rejects.toThrow('the caller has no seller record');
    await createSeller(table, 'sel_none');
    expect((await link(linkOf('sel_none', 'nobody'), inAnHour())).written).toBe(true);
  });
});
