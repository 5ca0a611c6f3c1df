/** Puts single users and registrations back that the live table has lost, beside its traffic. */
import { AdminError } from '#admin/admin-error.ts';
import type { Administration } from '#admin/administration.ts';
import { scanPages } from '#admin/stores/batches.ts';
import {
  type Erasures,
  erasureReader,
  type RemovalsSince,
  readItems,
  readRemovals,
} from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { auditPartition, buyerKey, usersPartition } from '#shared/table/keys.ts';
import { queryFirst, queryPages } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { removeUser } from '../users.ts';
import { copyUser } from './copy-user.ts';
import { decideBuyer, decidePresentUser, type Result } from './decisions.ts';

export interface CopyOptions {
  /** The table that DynamoDB restored. */
  readonly source: Table;
  /** Decides, and writes nothing. */
  readonly isDryRun: boolean;
  /** Only the users of this seller, and no registrations. */
  readonly sellerId?: string | undefined;
  /** The hashes of phones that were erased since, besides those of the audit. */
  readonly erased?: readonly KeyedHash[] | undefined;
  /** Ends the copy between two users. */
  readonly signal?: AbortSignal;
  /** Receives how many of all users are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** A user or a registration that the live table lacks, or should lack. */
export interface Finding {
  readonly kind: 'user' | 'buyer';
  readonly sellerId?: string | undefined;
  readonly id: string;
  readonly result: Result;
}

/** A copy, with what it reads once of each seller and again for each page. */
interface Run extends CopyOptions {
  readonly admin: Administration;
  readonly table: Table;
  readonly readErasures: () => Promise<Erasures>;
  readonly removalsOf: (sellerId: string) => Promise<RemovalsSince>;
}

/** The audit keeps the hashes of erased phones as long as point-in-time recovery reaches back. */
const MAX_AGE_MS = 35 * 86_400_000;

/** Returns the number of users to read. Throws `bad_input` for the wrong table, and for one that is too old to know who was erased since. */
const requireSource = async (
  { table, clock, sellers: live }: Administration,
  { source, sellerId, erased }: CopyOptions,
): Promise<number> => {
  const refuse = (reason: string) => new AdminError('bad_input', `${source.name} ${reason}`);
  const all = await sellerStore(source).list();
  const wanted = all.filter((seller) => sellerId === undefined || seller.seller_id === sellerId);
  if (wanted.length === 0)
    throw refuse(`has no ${sellerId === undefined ? 'sellers' : `seller ${sellerId}`}.`);
  const liveIds = new Set((await live.list()).map(({ seller_id }) => seller_id));
  if (!all.some(({ seller_id }) => liveIds.has(seller_id))) {
    throw refuse(`and ${table.name} have no seller in common.`);
  }
  let newest = '1970-01-01';
  for (const subject of [DEPLOYMENT_SUBJECT, ...all.map(({ seller_id }) => seller_id)]) {
    const [record] = await queryFirst(source, { pk: auditPartition(subject), newestFirst: true }, 1);
    if (String(record?.at ?? '') > newest) newest = String(record?.at);
  }
  if (erased === undefined && clock() - Date.parse(newest) >= MAX_AGE_MS) {
    throw refuse(
      'has no audit record of the last 35 days, so erasures since may be forgotten. Name the erased phones with --erased.',
    );
  }
  return wanted.reduce((sum, { user_count, removed_count }) => sum + user_count - removed_count, 0);
};

/** Undefined: it is there. */
const copyBuyer = async (
  { table, isDryRun }: Run,
  erasures: Erasures,
  [old, live]: readonly [StoredItem, StoredItem | undefined],
): Promise<Result | undefined> => {
  const result = decideBuyer(erasures, old, live);
  if (isDryRun || result !== 'missing') return result;
  return (await transact(table, [{ Put: { TableName: table.name, Item: old, ...ifAbsent } }]))
    ? 'copied'
    : undefined;
};

/** What an item of the restored table is about, and the hash of its phone. */
const aboutOf = (old: StoredItem) => {
  const { pk, sk, id, buyer_id, phone_hash } = old;
  if (sk === buyerKey('').sk) {
    const phoneHash = String(pk).slice(buyerKey('').pk.length);
    return { kind: 'buyer', id: String(buyer_id), phoneHash } as const;
  }
  const sellerId = String(pk).slice(usersPartition('').length);
  return { kind: 'user', sellerId, id: String(id), phoneHash: phone_hash } as const;
};

/** Copies an item of the restored table, if the live one lacks it. Undefined: it is there. */
const copyItem = async (
  run: Run,
  erasures: Erasures,
  [old, live]: readonly [StoredItem, StoredItem | undefined],
): Promise<Result | undefined> => {
  const about = aboutOf(old);
  if (about.kind === 'buyer') return copyBuyer(run, erasures, [old, live]);
  if (live !== undefined) return decidePresentUser(erasures, old, live);
  const { sellerId } = about;
  const removals = await run.removalsOf(sellerId);
  return copyUser(run.admin, { sellerId, erasures, removals, isDryRun: run.isDryRun }, old);
};

/** Removes what came back of a buyer who was erased meanwhile: the erasure may have looked for it before. */
const eraseCopied = async ({ admin, table }: Run, old: StoredItem): Promise<void> => {
  const about = aboutOf(old);
  if (about.kind === 'user') {
    await removeUser(admin, { sellerId: about.sellerId, userId: about.id, reason: 'erasure' });
    return;
  }
  const Key = { pk: old.pk, sk: old.sk };
  const same = ifEqual('registered_at', old.registered_at);
  await transact(table, [{ Delete: { TableName: table.name, Key, ...same } }]);
};

/** Copies what the live table lacks of a page of the restored one, until the copy is interrupted. Returns what it found of it. */
const copyPage = async (run: Run, items: readonly StoredItem[]): Promise<Finding[]> => {
  const erasures = await run.readErasures();
  const at = await readItems(run.table, items);
  const found: { readonly old: StoredItem; result: Result }[] = [];
  for (const old of items) {
    if (run.signal?.aborted) break;
    const result = await copyItem(run, erasures, [old, at(old)]);
    if (result !== undefined) found.push({ old, result });
  }
  const copied = found.filter(({ result }) => result === 'copied');
  const { phones } = copied.length === 0 ? erasures : await run.readErasures();
  for (const each of copied.filter(({ old }) => phones.has(aboutOf(old).phoneHash))) {
    await eraseCopied(run, each.old);
    each.result = 'erased';
  }
  return found.map(({ old, result }) => {
    const { phoneHash: _, ...about } = aboutOf(old);
    return { ...about, result };
  });
};

const INTERRUPTED = 'Stopped between two users. Run the command again: it goes on from there.';

/** The users and registrations of the restored table, page by page. */
const pagesOf = ({ source, sellerId }: CopyOptions) =>
  sellerId === undefined
    ? scanPages(source, [
        ['pk', usersPartition('')],
        ['sk', buyerKey('').sk],
      ])
    : queryPages(source, { pk: usersPartition(sellerId) });

/**
 * Puts back each user and each registration that the live table lacks, one after the other, unless something says that it went since. Nothing
 * else that exists changes but the counts of sellers. After an interruption, run it again. Returns what it found missing, and why it stays away.
 */
export const copyMissing = async (admin: Administration, options: CopyOptions): Promise<Finding[]> => {
  const { source, sellerId, isDryRun, erased = [] } = options;
  const total = await requireSource(admin, options);
  const readErasures = await erasureReader(source, admin.table, erased);
  const removals = new Map<string, Promise<RemovalsSince>>();
  const removalsOf = (id: string): Promise<RemovalsSince> => {
    const read = removals.get(id) ?? readRemovals(source, admin.table, id);
    removals.set(id, read);
    return read;
  };
  const run: Run = { ...options, admin, table: admin.table, readErasures, removalsOf };
  const details = { from: source.name, seller: sellerId ?? 'all' };
  const record = async (action: string, counts: Readonly<Record<string, number>> = {}): Promise<void> => {
    if (!isDryRun) await admin.audit.write(admin.record({ action, details: { ...details, ...counts } }));
  };
  await record('restore.started');
  const found: Finding[] = [];
  let done = 0;
  for await (const items of pagesOf(options)) {
    found.push(...(await copyPage(run, items)));
    if (options.signal?.aborted) throw new AdminError('interrupted', INTERRUPTED);
    done += items.filter(({ buyer_id }) => buyer_id === undefined).length;
    options.onProgress?.(Math.min(done, total), total);
  }
  await record('restore.ended', countsOf(found));
  return found;
};

/** How many findings have each result. */
export const countsOf = (found: readonly Finding[]): Partial<Record<Result, number>> => {
  const counts: Partial<Record<Result, number>> = {};
  for (const { result } of found) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
};
