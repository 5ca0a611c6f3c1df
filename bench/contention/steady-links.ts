import { setTimeout as pause } from 'node:timers/promises';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { userLinks } from '#shared/users/link-user.ts';
import { withDynamodbTimes } from './dynamodb-times.ts';

/** The result of links of one seller at a steady rate. */
export interface SteadyLinks {
  readonly transactionsPerSuccess: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Load {
  readonly perSecond: number;
  readonly links: number;
  /** How old the count is when the transaction begins. 0: it is read right before, as the service does. */
  readonly countAgeMs: number;
}

const DEADLINE_MS = 20_000;

/** A table whose first count of a link is `ageMs` old when the link uses it, as if it were read before the checks. */
const withOldCount = (table: Table, ageMs: number): Table => {
  let isFirstRead = true;
  const send = async (command: object): Promise<unknown> => {
    const result = await table.client.send(command as never);
    if (isFirstRead && ageMs > 0) await pause(ageMs);
    isFirstRead = false;
    return result;
  };
  return { name: table.name, client: { send } as unknown as Table['client'] };
};

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] as number;

/** Links people to a new seller at random times (a Poisson process). Every link reads and writes the real embedded database. */
export const steadyLinks = async (table: Table, sellerId: string, load: Load): Promise<SteadyLinks> => {
  await table.client.send(
    new PutCommand({ TableName: table.name, Item: { ...sellerKey(sellerId), user_count: 0 } }),
  );
  const timed = withDynamodbTimes(table);
  const user = {
    national_id_last_four: '0829',
    birth_date: '1370/1/15',
    phone: '+989550000000',
    display_name: 'Sara Ahmadi',
    created_at: new Date().toISOString(),
  };
  const link = async (number: number): Promise<number> => {
    const startedAt = performance.now();
    const newLink = {
      sellerId,
      personHashes: [`${sellerId}-${number}`] as const,
      phoneHash: `${sellerId}-${number}`,
      birthDay: '1991-04-04',
      user,
    };
    await userLinks(withOldCount(timed, load.countAgeMs)).link(newLink, startedAt + DEADLINE_MS);
    return performance.now() - startedAt - load.countAgeMs;
  };
  const running: Promise<number>[] = [];
  let dueAt = performance.now();
  for (let number = 0; number < load.links; number += 1) {
    dueAt += (-Math.log(1 - Math.random()) * 1000) / load.perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    running.push(link(number));
  }
  const times = await Promise.all(running);
  return {
    transactionsPerSuccess: timed.transactions() / load.links,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  };
};
