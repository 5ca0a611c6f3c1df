import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

/** An item as it was when a condition on it failed. */
export type StoredItem = Record<string, unknown>;

/**
 * Sends a conditional write. `true`: written. `{ was }`: the condition failed, with what the item was (undefined: no item), if the
 * write asked for ALL_OLD. Any other error is thrown.
 */
export const whenCondition = async <T>(
  send: Promise<T>,
): Promise<{ readonly done: T } | { readonly was: StoredItem | undefined }> => {
  try {
    return { done: await send };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The document client leaves this one item in the wire form.
    return { was: error.Item === undefined ? undefined : unmarshall(error.Item) };
  }
};

/** What became of one action of a cancelled transaction. */
export interface CancellationReason {
  readonly code: 'None' | 'ConditionalCheckFailed' | 'TransactionConflict' | string;
  /** The item as it was, if the action asked for ALL_OLD. */
  readonly was: StoredItem | undefined;
}

/** The reasons of a cancelled transaction, one an action and in their order; undefined for any other error. */
export const cancellationReasons = (error: unknown): readonly CancellationReason[] | undefined =>
  error instanceof TransactionCanceledException
    ? (error.CancellationReasons ?? []).map((reason) => ({
        code: reason.Code ?? 'None',
        was: reason.Item === undefined ? undefined : unmarshall(reason.Item),
      }))
    : undefined;
