/** The links that buyers ended, in a restore: a refusal comes back unless the person was linked again or the buyer was erased. */
import { deleteAll, forEachPage } from '#admin/stores/batches.ts';
import { readItems } from '#admin/stores/restored-items.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import { phoneLinksPartition, REFUSAL_PREFIX } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { Restoring } from './restoring.ts';
import { refusalKeys } from './rules.ts';

/**
 * Completes the refusals that either table has below a phone, after the users: a person item of a user says that the refusal was lifted.
 * If the user was removed since, nothing tells that: the refusal comes back, and a sign-in at the seller lifts it again.
 */
export const restoreRefusals = async (
  { admin: { table }, source, isDry, report, erasures, signal }: Restoring,
  sellerIds: ReadonlySet<string>,
): Promise<void> => {
  const complete = async (item: StoredItem): Promise<void> => {
    const [, sellerId = '', person_hash = ''] = String(item.sk).split('#');
    const phone_hash = String(item.pk).slice(phoneLinksPartition('').length);
    if (!sellerIds.has(sellerId) || erasures.hasPhone(phone_hash)) return;
    const keys = refusalKeys(sellerId, { person_hash, phone_hash });
    const live = await readItems(table, keys);
    const person = live(keys[0] as (typeof keys)[number]);
    if (person !== undefined && (person.refused_at === undefined || person.phone_hash !== phone_hash)) return;
    const refused_at = person?.refused_at ?? item.refused_at;
    const missing = keys.filter((key) => live(key) === undefined);
    if (missing.length === 0) return;
    report.count('refusals');
    if (isDry) return;
    const puts = missing.map((key) => ({
      Put: { TableName: table.name, Item: { ...key, phone_hash, refused_at }, ...ifAbsent },
    }));
    const isDone = await transact(table, puts);
    const isErased = (await erasures.refresh()).has(phone_hash);
    if (isDone && isErased) await deleteAll(table, missing);
  };
  for (const from of [table, source]) {
    await forEachPage(from, 'LINKS#', async (items) => {
      signal?.throwIfAborted();
      for (const item of items) if (String(item.sk).startsWith(REFUSAL_PREFIX)) await complete(item);
    });
  }
};
