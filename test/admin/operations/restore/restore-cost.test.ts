/** The calls that the cost and the time of docs/operations.md are calculated from. */
import { restoreReport } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useDamagedDeployment } from './damaged-deployment.ts';

const newDeployment = useDamagedDeployment();

const USERS = 38;

interface Input {
  readonly TransactItems?: readonly unknown[];
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly unknown[] }>>;
}

describe('restore', () => {
  it('reads six items of a missing user with an external id and writes five, with a read and a write of the seller for 19 users', async () => {
    const live = await newDeployment();
    for (let person = 0; person < USERS; person += 1) await live.link(`person ${person}`, `E-${person}`);
    const source = await live.takeRestorePoint();
    const counted = { keys: 0, counts: 0, items: 0, transactions: 0 };
    const table = interceptedTable(live.table, async ({ name, input }, send) => {
      const { TransactItems = [], RequestItems = {} } = input as Input;
      if (name === 'BatchGetCommand') counted.keys += RequestItems[live.table.name]?.Keys.length ?? 0;
      if (name === 'GetCommand' && input.ProjectionExpression === 'event_count') counted.counts += 1;
      if (name === 'TransactWriteCommand') counted.transactions += 1;
      counted.items += TransactItems.length;
      return send();
    });
    const admin = { ...live.admin, table };
    const run = async (isCopy: boolean) => {
      Object.assign(counted, { keys: 0, counts: 0, items: 0, transactions: 0 });
      await restore(admin, { source, isCopy, report: restoreReport() });
      return { ...counted };
    };

    // Besides users, a buyer, and the seller with its entry in the list.
    const OTHERS = 1 + 2;
    const read = { items: 0, transactions: 0 };
    expect(await run(false)).toEqual({ ...read, keys: USERS * 4 + OTHERS, counts: 0 });
    await live.lose(/^(?:USERS|PERSON|LINKS|EXTERNAL)#/);
    // The index of removals is read once for the users of a block.
    const keys = USERS * 6 + 2 + OTHERS;
    expect(await run(false)).toEqual({ ...read, keys, counts: 0 });
    expect(await run(true)).toEqual({ keys, counts: 2, items: USERS * 5 + 2, transactions: 2 });
  });
});
