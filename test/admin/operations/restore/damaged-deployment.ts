/** A deployment with one seller, a restore point, and a damage after it. */
import { isDeepStrictEqual } from 'node:util';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { restoreReport } from '#admin/operations/restore/report.ts';
import { restore } from '#admin/operations/restore/restore.ts';
import type { RestoreOptions } from '#admin/operations/restore/run.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { linkOf, registerBuyer } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { type TestAdministration, useAdministration } from '../use-administration.ts';
import { itemsIn, keyText } from './damage.ts';

type Options = Partial<RestoreOptions>;

/** The keys of the items that were there before and are another one now. */
const changedItems = (before: readonly StoredItem[], after: readonly StoredItem[]): string[] => {
  const now = new Map(after.map((item) => [keyText(item), item]));
  return before.filter((item) => !isDeepStrictEqual(now.get(keyText(item)), item)).map(keyText);
};

const damagedDeployment = (deployment: TestAdministration, sellerId: string) => {
  const { admin, table, clock } = deployment;
  const users = userStore(table);
  let source: Table | undefined;

  const restoredTable = (): Table => {
    if (source === undefined) throw new Error('there is no restore point');
    return source;
  };

  const run = async (isCopy: boolean, options: Options = {}): Promise<string[]> => {
    const lines: string[] = [];
    const report = restoreReport({ write: (line) => lines.push(line.trim()) });
    await restore(admin, { source: restoredTable(), report, isCopy, ...options });
    for (const line of lines.slice(1)) expect(line).toMatch(/^(?:sel_\w{22},(?!buyer)|,buyer)/);
    // `<seller>,<kind>,<id>,<state>` without the seller
    return lines
      .slice(1)
      .map((line) => line.split(',').slice(1).join(' '))
      .sort();
  };

  return {
    ...deployment,
    sellerId,
    users,
    source: restoredTable,

    async link(person: string, externalId?: string, of = sellerId): Promise<string> {
      const { user, ...newLink } = linkOf(of, person);
      const result = await users.link({
        ...newLink,
        user: { ...user, external_id: externalId, created_at: admin.now() },
      });
      if (!result.written) throw new Error(`the person was not linked: ${result.reason}`);
      return result.value.id;
    },

    correct: (userId: string, update: { display_name?: string; external_id?: string | null }) =>
      users.updateUser(sellerId, userId, { update, updatedAt: admin.now() }),

    remove: (userId: string) =>
      users.removeUser(sellerId, userId, {
        removedAt: admin.now(),
        reason: 'seller',
      }),

    /** The buyer ends a link. */
    endLink: (userId: string) =>
      users.removeUser(sellerId, userId, {
        removedAt: admin.now(),
        reason: 'buyer',
        endedAt: Math.floor(clock() / 1000),
      }),

    erase: (person: string) => eraseBuyer(admin, new KeyedHash(`phone-of-${person}`)),

    items: () => itemsIn(table),

    /** Deletes the items whose partition keys match. */
    async lose(pattern: RegExp): Promise<void> {
      await deleteAll(
        table,
        (await itemsIn(table)).filter(({ pk }) => pattern.test(String(pk))),
      );
    },

    put: (...items: readonly StoredItem[]) => putAll(table, items),

    userAt: (ordinal: number): Promise<StoredItem | undefined> => getItem(table, userKey(sellerId, ordinal)),

    /** The table as DynamoDB would restore it later, an hour before what follows. */
    async takeRestorePoint(): Promise<Table> {
      source = await deployment.newTable();
      await putAll(source, await itemsIn(table));
      clock.advance(3600);
      return source;
    },

    /** Returns what a compare finds. It changes nothing. */
    async compared(options?: Options): Promise<string[]> {
      const before = await itemsIn(table);
      const found = await run(false, options);
      expect(await itemsIn(table)).toEqual(before);
      return found;
    },

    /** Returns what a copy does, and which items of before it changes: none but sellers. */
    async copied(options?: Options): Promise<string[]> {
      const before = await itemsIn(table);
      const found = await run(true, options);
      const changed = changedItems(before, await itemsIn(table));
      expect(changed.filter((key) => !/^SELLER#\S+ SELLER$/.test(key))).toEqual([]);
      return found;
    },

    /** Returns what a copy does if a change comes just before its first write of a kind of items: `USERS`, `BUYER` … */
    async copiedBeside(kind: string, change: () => Promise<unknown>): Promise<string[]> {
      let isChanged = false;
      const beforeWrite = async (write: string): Promise<void> => {
        if (isChanged || !write.includes(kind)) return;
        isChanged = true;
        await change();
      };
      const found = await deployment.beforeEachWrite(beforeWrite, () => run(true));
      expect(isChanged).toBe(true);
      return found;
    },
  };
};

/** Prepares damaged deployments for the tests of a file. */
export const useDamagedDeployment = () => {
  const newAdministration = useAdministration();
  return async () => {
    const deployment = await newAdministration();
    const { seller_id } = await deployment.seller();
    await registerBuyer(deployment.table);
    deployment.clock.advance(60);
    return damagedDeployment(deployment, seller_id);
  };
};

export type DamagedDeployment = Awaited<ReturnType<ReturnType<typeof useDamagedDeployment>>>;
