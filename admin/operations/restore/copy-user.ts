/** Puts one user back that the live table lacks, or closes its place, in one transaction with an event. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { Administration } from '#admin/administration.ts';
import { type Erasures, type ItemAt, type RemovalsSince, readItems } from '#admin/stores/restored-items.ts';
import { ifAbsent } from '#admin/stores/transactions.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import {
  type ItemKey,
  removalBlockKey,
  removalSummaryKey,
  sellerKey,
  tombstoneKey,
} from '#shared/table/keys.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';
import { type Action, type StoredItem, transactWrite } from '#shared/table/writes.ts';
import { blockOf } from '#shared/users/removals.ts';
import { tombstoneActions } from '#shared/users/remove-user.ts';
import {
  CHANGE_PAUSES,
  countsFrom,
  type Overtaken,
  sequenceAfter,
  type UserChange,
  writeUserChange,
} from '#shared/users/user-change.ts';
import { decideMissingUser, decidePresentUser, keysOf, type Result, type UserDecision } from './decisions.ts';

/** A user of the restored table, and what was read of it in the live one. */
interface ReadUser {
  readonly sellerId: string;
  readonly old: StoredItem;
  readonly at: ItemAt;
}

const keyOf = ({ pk, sk }: StoredItem | ItemKey) => ({ pk, sk });

const put = (TableName: string, Item: StoredItem): Action<Overtaken> => ({
  Put: { TableName, Item, ...ifAbsent },
  otherwise: 'overtaken',
});

const isAbsent = (TableName: string, item: StoredItem | ItemKey): Action<Overtaken> => ({
  ConditionCheck: { TableName, Key: keyOf(item), ...ifAbsent },
  otherwise: 'overtaken',
});

/** Returns the writes of the items beside the user. Each has the condition that its item is as it was read. */
const itemActions = (
  TableName: string,
  { old }: ReadUser,
  { puts = [], deletes = [], unchanged }: UserDecision,
): Action<Overtaken>[] => {
  const otherwise = 'overtaken';
  const isOwn = ifEqual('user_id', old.id);
  const same = ifEqual('refused_at', unchanged?.refused_at);
  return [
    ...puts.map((item) => put(TableName, item)),
    ...deletes.map((item) => ({ Delete: { TableName, Key: keyOf(item), ...isOwn }, otherwise }) as const),
    ...(unchanged === undefined
      ? []
      : [{ ConditionCheck: { TableName, Key: keyOf(unchanged), ...same }, otherwise } as const]),
  ];
};

type Part = Pick<UserChange<never>, 'event' | 'added' | 'actions'>;

/** The user at its place, which no removal has taken meanwhile. */
const returnOf = (TableName: string, { sellerId, old, at }: ReadUser, occurredAt: string): Part => {
  const last_event = sequenceAfter(countsFrom(at(sellerKey(sellerId))));
  const tombstone = tombstoneKey(sellerId, Number(old.sk));
  return {
    event: { type: 'user.linked', reason: 'restore', userId: String(old.id), occurredAt },
    actions: [put(TableName, { ...old, last_event }), isAbsent(TableName, tombstone)],
  };
};

/** The place as that of a removed user, which nobody has taken meanwhile. */
const closingOf = (
  TableName: string,
  { sellerId, old, at }: ReadUser,
  { occurredAt, isErased }: { readonly occurredAt: string; readonly isErased: boolean },
): Part => {
  const [userId, ordinal] = [String(old.id), Number(old.sk)];
  const index = {
    bitmap: at(removalBlockKey(sellerId, blockOf(ordinal)))?.removed_ordinals as Uint8Array | undefined,
    summary: at(removalSummaryKey(sellerId))?.removed_counts as Uint8Array | undefined,
  };
  const place = { sellerId, userId, ordinal, removedAt: occurredAt };
  return {
    event: { type: 'user.removed', reason: isErased ? 'erasure' : 'operator', userId, occurredAt },
    added: { removed: 1 },
    actions: [isAbsent(TableName, old), ...tombstoneActions(TableName, place, index)],
  };
};

/** Writes all that is decided on a user in one transaction. */
const writeDecision = async (
  { table, now }: Administration,
  user: ReadUser,
  decision: UserDecision,
): Promise<{ readonly written: boolean }> => {
  const { sellerId, at } = user;
  const { result, closesPlace = false } = decision;
  const actions = itemActions(table.name, user, decision);
  const isErased = result === 'erased';
  const part =
    result === 'missing'
      ? returnOf(table.name, user, now())
      : closesPlace
        ? closingOf(table.name, user, { occurredAt: now(), isErased })
        : undefined;
  if (part === undefined) return actions.length === 0 ? { written: true } : transactWrite(table, actions);
  const counts = countsFrom(at(sellerKey(sellerId)));
  return writeUserChange(table, { ...part, sellerId, counts, actions: [...part.actions, ...actions] });
};

const THROTTLING: readonly unknown[] = ['ThrottlingError', 'ProvisionedThroughputExceeded'];

/** The SDK does not send a throttled transaction again. */
const conflictIfThrottled = (error: unknown): Conflict => {
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  if (reasons.some(({ Code }) => THROTTLING.includes(Code))) return new Conflict();
  throw error;
};

/** How long a user is decided again beside other changes of its seller, or while the table throttles. */
const TIMEOUT_MS = 120_000;

/** What decides on a user beside its items. */
export interface CopyFacts {
  readonly sellerId: string;
  readonly erasures: Erasures;
  readonly removals: RemovalsSince;
  readonly isDryRun: boolean;
}

/**
 * Decides on a user and writes that, again while other writers come first. Undefined: it is there. Throws `service_unavailable` after 120 s of
 * other writers.
 */
export const copyUser = (
  admin: Administration,
  { isDryRun, ...facts }: CopyFacts,
  old: StoredItem,
): Promise<Result | undefined> => {
  const { sellerId, erasures } = facts;
  const attempt = async (): Promise<Result | undefined | Conflict> => {
    const at = await readItems(admin.table, keysOf(sellerId, old));
    const live = at(old);
    if (live !== undefined) return decidePresentUser(erasures, old, live);
    const decision = decideMissingUser(facts, old, at);
    if (isDryRun) return decision.result;
    const written = writeDecision(admin, { sellerId, old, at }, decision);
    if (!(await written.catch(conflictIfThrottled)).written) return new Conflict();
    return decision.result === 'missing' ? 'copied' : decision.result;
  };
  return retryConflicts(deadlineIn(TIMEOUT_MS), attempt, CHANGE_PAUSES);
};
