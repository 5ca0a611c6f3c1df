/** Puts single users and registrations back that the live table has lost, beside its traffic. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { AdminError } from '#admin/admin-error.ts';
import type { Administration } from '#admin/administration.ts';
import { scanPages } from '#admin/stores/batches.ts';
import {
  type Erasures,
  erasureReader,
  type ItemAt,
  type RemovalsSince,
  readItems,
  readRemovals,
} from '#admin/stores/restored-items.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { ifAbsent, transact } from '#admin/stores/transactions.ts';
import { DEPLOYMENT_SUBJECT } from '#shared/audit.ts';
import { deadlineIn } from '#shared/deadline.ts';
import type { UserEvent } from '#shared/events/event.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import {
  auditPartition,
  buyerKey,
  type ItemKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  tombstoneKey,
  usersPartition,
} from '#shared/table/keys.ts';
import { queryFirst, queryPages } from '#shared/table/reads.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { type Action, type StoredItem, transactWrite } from '#shared/table/writes.ts';
import { blockOf } from '#shared/users/removals.ts';
import { tombstoneActions } from '#shared/users/remove-user.ts';
import { CHANGE_PAUSES, countsFrom, sequenceAfter, writeUserChange } from '#shared/users/user-change.ts';
import { removeUser } from '../users.ts';
import {
  decideBuyer,
  decideMissingUser,
  decidePresentUser,
  keysOf,
  type Result,
  type UserDecision,
} from './decisions.ts';

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

/** How long a user is decided again beside other changes of its seller, or while the table throttles. */
const TIMEOUT_MS = 120_000;

const THROTTLING: readonly unknown[] = ['ThrottlingError', 'ProvisionedThroughputExceeded'];

/** The SDK does not send a throttled transaction again. */
const conflictIfThrottled = (error: unknown): Conflict => {
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  if (reasons.some(({ Code }) => THROTTLING.includes(Code))) return new Conflict();
  throw error;
};

/** Writes all that is decided on a user in one transaction, under the condition that all is as it was read. */
const writeDecision = async (
  { admin, table }: Run,
  { sellerId, old, at }: { readonly sellerId: string; readonly old: StoredItem; readonly at: ItemAt },
  { result, puts = [], unchanged, deletes = [], closesPlace = false }: UserDecision,
): Promise<{ readonly written: boolean }> => {
  const [TableName, otherwise] = [table.name, 'overtaken'] as const;
  const [userId, ordinal, occurredAt] = [String(old.id), Number(old.sk), admin.now()];
  const counts = countsFrom(at(sellerKey(sellerId)));
  const keyOf = ({ pk, sk }: StoredItem | ItemKey) => ({ pk, sk });
  const put = (Item: StoredItem): Action<'overtaken'> => ({
    Put: { TableName, Item, ...ifAbsent },
    otherwise,
  });
  const isAbsent = (item: StoredItem | ItemKey): Action<'overtaken'> => ({
    ConditionCheck: { TableName, Key: keyOf(item), ...ifAbsent },
    otherwise,
  });
  const actions: Action<'overtaken'>[] = puts.map(put);
  for (const item of deletes)
    actions.push({ Delete: { TableName, Key: keyOf(item), ...ifEqual('user_id', userId) }, otherwise });
  if (unchanged !== undefined) {
    const same = ifEqual('refused_at', unchanged.refused_at);
    actions.push({ ConditionCheck: { TableName, Key: keyOf(unchanged), ...same }, otherwise });
  }
  const change = (event: UserEvent, added: { removed?: 1 }, ...more: readonly Action<'overtaken'>[]) =>
    writeUserChange(table, { sellerId, counts, event, added, actions: [...more, ...actions] });

  if (result === 'missing') {
    const user = put({ ...old, last_event: sequenceAfter(counts) });
    const event = { type: 'user.linked', reason: 'restore', userId, occurredAt } as const;
    return change(event, {}, user, isAbsent(tombstoneKey(sellerId, ordinal)));
  }
  if (closesPlace) {
    const index = {
      bitmap: at(removalBlockKey(sellerId, blockOf(ordinal)))?.removed_ordinals as Uint8Array | undefined,
      summary: at(removalSummaryKey(sellerId))?.removed_counts as Uint8Array | undefined,
    };
    const removal = { sellerId, userId, ordinal, removedAt: occurredAt };
    const reason = result === 'erased' ? 'erasure' : 'operator';
    const event = { type: 'user.removed', reason, userId, occurredAt } as const;
    return change(event, { removed: 1 }, isAbsent(old), ...tombstoneActions(TableName, removal, index));
  }
  return actions.length === 0 ? { written: true } : transactWrite(table, actions);
};

/** Decides on a user and writes that, again while other writers come first. Undefined: it is there. */
const copyUser = (
  run: Run,
  { sellerId, erasures }: { readonly sellerId: string; readonly erasures: Erasures },
  old: StoredItem,
): Promise<Result | undefined> =>
  retryConflicts(
    deadlineIn(TIMEOUT_MS),
    async () => {
      const removals = await run.removalsOf(sellerId);
      const at = await readItems(run.table, keysOf(sellerId, old));
      const live = at(old);
      if (live !== undefined) return decidePresentUser(erasures, old, live);
      const decision = decideMissingUser({ sellerId, erasures, removals }, old, at);
      if (run.isDryRun) return decision.result;
      const written = writeDecision(run, { sellerId, old, at }, decision);
      if (!(await written.catch(conflictIfThrottled)).written) return new Conflict();
      return decision.result === 'missing' ? 'copied' : decision.result;
    },
    CHANGE_PAUSES,
  );

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

/** Removes what came back of a buyer who was erased meanwhile: the erasure may have looked for it before. */
const eraseCopied = async ({ admin, table }: Run, { kind, sellerId = '', id }: Finding, old: StoredItem) => {
  if (kind === 'user') await removeUser(admin, { sellerId, userId: id, reason: 'erasure' });
  const Key = { pk: old.pk, sk: old.sk };
  const same = ifEqual('registered_at', old.registered_at);
  if (kind === 'buyer') await transact(table, [{ Delete: { TableName: table.name, Key, ...same } }]);
};

/** Copies what the live table lacks of a page of the restored one. Returns what it found of it. */
const copyPage = async (run: Run, items: readonly StoredItem[]): Promise<Finding[]> => {
  const erasures = await run.readErasures();
  const at = await readItems(run.table, items);
  const found: { finding: Finding; old: StoredItem; phoneHash: unknown }[] = [];
  for (const old of items) {
    if (run.signal?.aborted) {
      throw new AdminError(
        'interrupted',
        'Stopped between two users. Run the command again: it goes on from there.',
      );
    }
    const live = at(old);
    const isBuyer = old.sk === buyerKey('').sk;
    const sellerId = isBuyer ? undefined : String(old.pk).slice(usersPartition('').length);
    const result =
      sellerId === undefined
        ? await copyBuyer(run, erasures, [old, live])
        : live === undefined
          ? await copyUser(run, { sellerId, erasures }, old)
          : decidePresentUser(erasures, old, live);
    if (result === undefined) continue;
    const phoneHash = isBuyer ? String(old.pk).slice(buyerKey('').pk.length) : old.phone_hash;
    const finding = {
      kind: isBuyer ? 'buyer' : 'user',
      sellerId,
      id: String(old.buyer_id ?? old.id),
      result,
    } as const;
    found.push({ finding, old, phoneHash });
  }
  const copied = found.filter(({ finding }) => finding.result === 'copied');
  const { phones } = copied.length === 0 ? erasures : await run.readErasures();
  const erased = copied.filter(({ phoneHash }) => phones.has(phoneHash));
  for (const { finding, old } of erased) await eraseCopied(run, finding, old);
  return found.map((each) => (erased.includes(each) ? { ...each.finding, result: 'erased' } : each.finding));
};

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
