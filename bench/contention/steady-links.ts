import { setTimeout as pause } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { startBenchDatabase } from '#bench/harness/database.ts';
import { quantile } from '#bench/harness/report.ts';
import type { Table } from '#shared/table/client.ts';
import { userLinks } from '#shared/users/link-user.ts';
import { DYNAMODB_MS } from './model.ts';

/** The result of links of one seller at a steady rate. */
export interface SteadyLinks {
  readonly transactionsPerSuccess: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const DEADLINE_MS = 20_000;

/** Adds DynamoDB's times to the calls of links of one seller, and cancels a transaction that meets another one. */
const withDynamodbTimes = ({ name, client }: Table) => {
  const { network, read, beforeHold, hold } = DYNAMODB_MS;
  let isSellerHeld = false;
  let transactions = 0;

  const transact = async (command: TransactWriteCommand): Promise<unknown> => {
    transactions += 1;
    await pause(network + beforeHold);
    if (isSellerHeld) {
      await pause(network);
      const CancellationReasons = [{ Code: 'TransactionConflict' }];
      throw new TransactionCanceledException({ message: 'canceled', $metadata: {}, CancellationReasons });
    }
    isSellerHeld = true;
    try {
      const [result] = await Promise.all([client.send(command), pause(hold)]);
      return result;
    } finally {
      isSellerHeld = false;
      await pause(network);
    }
  };

  return {
    transactions: () => transactions,

    /** The table of one link. Its first count is `countAgeMs` old when the link gets it, as if it were read before the checks. */
    tableOfLink(countAgeMs: number): Table {
      let ageMs = countAgeMs;
      const send = async (command: object): Promise<unknown> => {
        if (command instanceof TransactWriteCommand) return transact(command);
        await pause(network + read);
        const result = await client.send(command as never);
        await pause(network + ageMs);
        ageMs = 0;
        return result;
      };
      return { name, client: { send } as never };
    },
  };
};

/** Links people to a new seller at the times `starts` (milliseconds). Every link reads and writes the real embedded database. */
export const steadyLinks = async (starts: readonly number[], countAgeMs: number): Promise<SteadyLinks> => {
  const database = await startBenchDatabase();
  const { sellerId } = await database.newSeller();
  const { tableOfLink, transactions } = withDynamodbTimes(database.table);
  const user = {
    national_id_last_four: '0829',
    birth_date: '1370/1/15',
    phone: '+989550000000',
    display_name: 'Sara Ahmadi',
    created_at: new Date().toISOString(),
  };
  const link = async (start: number, index: number): Promise<number> => {
    await pause(start);
    const startedAt = performance.now();
    const hash = String(index);
    await userLinks(tableOfLink(countAgeMs)).link(
      { sellerId, personHashes: [hash], phoneHashes: [hash], birthDay: '1991-04-04', user },
      startedAt + DEADLINE_MS,
    );
    return performance.now() - startedAt - countAgeMs;
  };
  const times = await Promise.all(starts.map(link));
  await database.stop();
  return {
    transactionsPerSuccess: transactions() / starts.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  };
};
