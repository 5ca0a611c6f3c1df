import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';

/**
 * The assumed times of DynamoDB in its Region, in milliseconds. AWS publishes none; single-digit reads and 10 to 20 ms for a
 * transaction are what users report.
 */
export const DYNAMODB_MS = {
  /** One way between the function and the service. */
  network: 1,
  read: 2,
  /** A transaction holds its items between the two. Another transaction that meets a held item is canceled. */
  beforeHold: 2,
  hold: 8,
} as const;

/** A table with the times and the conflicts of DynamoDB. */
export interface TimedTable extends Table {
  /** The number of transactions sent so far. */
  transactions(): number;
}

type Command = { readonly input: { readonly TransactItems?: TransactWriteCommandInput['TransactItems'] } };

/** The keys of the items of a transaction. */
const keysOf = (items: NonNullable<Command['input']['TransactItems']>): string[] =>
  items.map(({ Put, Update, Delete, ConditionCheck }) => {
    const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
    return `${pk} ${sk}`;
  });

/** Returns the table with a client that adds DynamoDB's times to each call and cancels transactions that meet a held item. */
export const withDynamodbTimes = ({ name, client }: Table): TimedTable => {
  const held = new Set<string>();
  let transactions = 0;

  const transact = async (command: Command): Promise<unknown> => {
    transactions += 1;
    await pause(DYNAMODB_MS.network + DYNAMODB_MS.beforeHold);
    const keys = keysOf(command.input.TransactItems ?? []);
    const conflicts = keys.map((key) => held.has(key));
    if (conflicts.includes(true)) {
      await pause(DYNAMODB_MS.network);
      throw new TransactionCanceledException({
        message: 'canceled',
        $metadata: {},
        CancellationReasons: conflicts.map((isHeld) => ({ Code: isHeld ? 'TransactionConflict' : 'None' })),
      });
    }
    for (const key of keys) held.add(key);
    try {
      const [result] = await Promise.all([client.send(command as never), pause(DYNAMODB_MS.hold)]);
      return result;
    } finally {
      for (const key of keys) held.delete(key);
      await pause(DYNAMODB_MS.network);
    }
  };

  const send = async (command: Command): Promise<unknown> => {
    if (command.input.TransactItems !== undefined) return transact(command);
    await pause(DYNAMODB_MS.network + DYNAMODB_MS.read);
    const result = await client.send(command as never);
    await pause(DYNAMODB_MS.network);
    return result;
  };

  return { name, client: { send } as unknown as Table['client'], transactions: () => transactions };
};
