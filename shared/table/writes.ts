import { randomUUID } from 'node:crypto';
import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  TransactWriteCommand,
  type TransactWriteCommandInput,
  type UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { deadlineWithin } from '#shared/request-context.ts';
import type { Table } from './client.ts';
import { Conflict, retryConflicts } from './retry-conflicts.ts';

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
  retryConflicts(deadlineWithin(CONFLICTS_TIMEOUT_MS), () =>
    conditionalWrite(send()).catch((error: unknown) => {
      if (error instanceof TransactionConflictException) return new Conflict();
      throw error;
    }),
  );

/** A command that the SDK does not send again: its second attempt fails before it is sent. */
export const sentOnce = (command: UpdateCommand): UpdateCommand => {
  let isSent = false;
  const once = (next: (args: object) => unknown) => (args: object) => {
    if (isSent) throw new Error('a command that must be sent once got no response');
    isSent = true;
    return next(args);
  };
  // Its type has no name that a package of ours exports.
  command.middlewareStack.addRelativeTo(once as never, {
    relation: 'after',
    toMiddleware: 'retryMiddleware',
    name: 'sentOnce',
    // The document client adds the steps of a command twice.
    override: true,
  });
  return command;
};

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * One write or check of a transaction. `otherwise`: the outcome of the transaction if the condition fails. If several fail, the first one
 * counts. An action whose condition never fails alone has none.
 */
export type Action<Outcome extends string = never> = TransactItem & { readonly otherwise?: Outcome };

/** A conflict: no condition failed, but another write holds an item. */
type TransactionResult<Outcome extends string> =
  | { readonly written: true; readonly value: undefined }
  | { readonly written: false; readonly reason: Outcome }
  | Conflict;

const RETRYABLE: readonly string[] = ['None', 'ConditionalCheckFailed', 'TransactionConflict'];

/** DynamoDB rejected a transaction that ended with an error of the client, so it was not written. After any other error it may be. */
const mayBeWritten = (error: unknown): boolean =>
  !(error instanceof Error && '$fault' in error && error.$fault === 'client') ||
  error.name === 'TransactionInProgressException';

/** Throws if a condition failed that has no meaning: then the table holds what our code never writes. */
const resultOf = <Outcome extends string>(
  actions: readonly Action<Outcome>[],
  reasons: readonly CancellationReason[],
): TransactionResult<Outcome> => {
  const failed = reasons.map(({ Code }) => Code === 'ConditionalCheckFailed');
  const reason = actions.find(({ otherwise }, index) => otherwise !== undefined && failed[index])?.otherwise;
  if (reason !== undefined) return { written: false, reason };
  if (failed.includes(true)) throw new Error(`the condition of action ${failed.indexOf(true)} failed alone`);
  return new Conflict();
};

/**
 * Writes all items or none. Without a response it sends the same transaction once more: by its token DynamoDB makes it once. Throws every
 * error but a failed condition and a conflict.
 */
export const transactWrite = async <Outcome extends string>(
  { client }: Pick<Table, 'client'>,
  actions: readonly Action<Outcome>[],
): Promise<TransactionResult<Outcome>> => {
  const TransactItems = actions.map(({ otherwise, ...item }): TransactItem => item);
  const transaction = { TransactItems, ClientRequestToken: randomUUID() };
  const send = () => client.send(new TransactWriteCommand(transaction));
  try {
    await send().catch((error: unknown) => {
      if (!mayBeWritten(error)) throw error;
      return send();
    });
    return { written: true, value: undefined };
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    const reasons = error.CancellationReasons ?? [];
    if (!reasons.every(({ Code = 'None' }) => RETRYABLE.includes(Code))) throw error;
    return resultOf(actions, reasons);
  }
};
