/** A deployment with one seller, a restore point, and a damage after it. */
import { isDeepStrictEqual } from 'node:util';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { type CopyOptions, copyMissing } from '#admin/operations/restore/copy.ts';
import { deleteAll, putAll } from '#admin/stores/batches.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { linkOf, registerBuyer, withExternalId } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { type TestAdministration, useAdministration } from '../use-administration.ts';
import { itemsIn, keyText } from './damage.ts';
import { faultsIn, faultsOfPages } from './invariants.ts';

type Options = Partial<CopyOptions>;

/** The keys of the items that were there before and have changed since. */
const changedItems = (before: readonly StoredItem[], after: readonly StoredItem[]): string[] => {
  const now = new Map(after.map((item) => [keyText(item), item]));
  return before
    .filter((item) => {
      const after = now.get(keyText(item));
      return after !== undefined && !isDeepStrictEqual(after, item);
    })
    .map(keyText);
};

const damagedDeployment = (deployment: TestAdministration, sellerId: string) => {
  const { admin, table, clock } = deployment;
  const users = userStore(table);
  let source: Table | undefined;

  const restoredTable = (): Table => {
    if (source === undefined) throw new Error('there is no restore point');
    return source;
  };

  /** Returns `<kind> <id> <result>` of each finding, sorted. */
  const run = async (options: Options): Promise<string[]> => {
    const found = await copyMissing(admin, { source: restoredTable(), isDryRun: false, ...options });
    for (const { kind, sellerId: of } of found) expect(of !== undefined).toBe(kind === 'user');
    return found.map(({ kind, id, result }) => `${kind} ${id} ${result}`).sort();
  };

  return {
    ...deployment,
    sellerId,
    users,
    source: restoredTable,

    async link(person: string, externalId?: string, of = sellerId): Promise<string> {
      const newLink = withExternalId(linkOf(of, person), externalId);
      const result = await users.link({ ...newLink, linkedAt: admin.now() });
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
        ended: { phone: new KeyedHash('of no code'), clock },
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

    /** Returns what a dry run finds. It changes nothing. */
    async dryRun(options?: Options): Promise<string[]> {
      const before = await itemsIn(table);
      const found = await run({ ...options, isDryRun: true });
      expect(await itemsIn(table)).toEqual(before);
      return found;
    },

    /** Returns what a copy does. Of what was there it changes the counts of sellers and the index of removals only. */
    async copied(options: Options = {}): Promise<string[]> {
      const before = await itemsIn(table);
      const found = await run(options);
      const changed = changedItems(before, await itemsIn(table));
      expect(changed.filter((key) => !/^(?:SELLER#\S+ SELLER$|REMOVALS#)/.test(key))).toEqual([]);
      return found;
    },

    /** Returns what a copy does if a change comes just before its first write of a kind of items: `USERS`, `BUYER` … */
    async copiedBeside(
      kind: string,
      change: () => Promise<unknown>,
      options: Options = {},
    ): Promise<string[]> {
      let isChanged = false;
      const beforeWrite = async (write: string): Promise<void> => {
        if (isChanged || !write.includes(kind)) return;
        isChanged = true;
        await change();
      };
      const found = await deployment.beforeEachWrite(beforeWrite, () => run(options));
      expect(isChanged).toBe(true);
      return found;
    },

    /** What is wrong with the users of the table, their places and their pages. */
    async faults(): Promise<string[]> {
      return [...faultsIn(await itemsIn(table)), ...(await faultsOfPages(table, sellerId))];
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
