import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { retryUntil } from './backoff.ts';
import type { Table } from './client.ts';

export type StoredItem = Record<string, unknown>;

export type WriteResult<Value, Reason> =
  | { readonly written: true; readonly value: Value }
  | { readonly written: false; readonly reason: Reason };

export const written = <Value>(value: Value): WriteResult<Value, never> => ({ written: true, value });

export const notWritten = <Reason>(reason: Reason): WriteResult<never, Reason> => ({
  written: false,
  reason,
});

/** The reason of a failed condition is the item as it was, if the write asks for ALL_OLD. */
export const conditionalWrite = async <Output>(
  send: Promise<Output>,
): Promise<WriteResult<Output, StoredItem | undefined>> => {
  try {
    return written(await send);
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The document client leaves this one item in DynamoDB's own JSON.
    return notWritten(error.Item && unmarshall(error.Item));
  }
};

/** A transaction holds an item for some milliseconds. */
const CONFLICTS_TIMEOUT_MS = 1000;

/** Sends a conditional write of one item again while a transaction holds the item: the SDK does not. */
export const retriedWrite = <Output>(
  send: () => Promise<Output>,
): Promise<WriteResult<Output, StoredItem | undefined>> =>
  retryUntil(performance.now() + CONFLICTS_TIMEOUT_MS, async () => {
    try {
      return await conditionalWrite(send());
    } catch (error) {
      if (!(error instanceof TransactionConflictException)) throw error;
      return undefined;
    }
  });

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export interface CancellationReason {
  readonly code: 'None' | 'ConditionalCheckFailed' | 'TransactionConflict' | (string & {});
  /** The item as it was, if the action asked for ALL_OLD. */
  readonly item: StoredItem | undefined;
}

export const isConditionFailure = ({ code }: CancellationReason): boolean =>
  code === 'ConditionalCheckFailed';

const RETRYABLE: readonly string[] = ['None', 'ConditionalCheckFailed', 'TransactionConflict'];

/** A transaction that ended with an error of the client was not written. */
const mayBeWritten = (error: unknown): boolean =>
  !(error instanceof Error && '$fault' in error && error.$fault === 'client') ||
  error.name === 'TransactionInProgressException';

/**
 * Writes all items or none. Without a response it sends the same transaction once more: by its token DynamoDB makes it once. The reasons
 * come one per item, in their order: a failed condition or a conflict, which the caller retries.
 */
export const transactWrite = async (
  { client }: Pick<Table, 'client'>,
  items: readonly TransactItem[],
): Promise<WriteResult<void, readonly CancellationReason[]>> => {
  const transaction = { TransactItems: [...items], ClientRequestToken: randomUUID() };
  const send = () => client.send(new TransactWriteCommand(transaction));
  try {
    await send().catch((error: unknown) => {
      if (!mayBeWritten(error)) throw error;
      return send();
    });
    return written(undefined);
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const reasons = (error.CancellationReasons ?? []).map(({ Code, Item }) => ({
      code: Code ?? 'None',
      item: Item && unmarshall(Item),
    }));
    if (!reasons.every(({ code }) => RETRYABLE.includes(code))) throw error;
    return notWritten(reasons);
  }
};
