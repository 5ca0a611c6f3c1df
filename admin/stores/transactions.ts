import { setTimeout as pause } from 'node:timers/promises';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { type CancellationReason, cancellationReasons } from '#shared/table/conditions.ts';

export type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** `true`: written. Otherwise why not, one reason an item and in their order: at least one condition failed. */
export type TransactOutcome = true | readonly CancellationReason[];

const MAX_ATTEMPTS = 12;
const BETWEEN_MEETINGS: Backoff = { baseMs: 10, capMs: 500 };

const isConditionFailure = ({ code }: CancellationReason): boolean => code === 'ConditionalCheckFailed';

/**
 * Writes all items or none. A transaction that merely met another one is sent again, with full jitter; the SDK does not do so by
 * itself. What fails for good, or longer than a few seconds, is thrown.
 */
export const transact = async (
  { client }: Pick<Table, 'client'>,
  items: readonly TransactItem[],
): Promise<TransactOutcome> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems: [...items] }));
      return true;
    } catch (error) {
      const reasons = cancellationReasons(error);
      if (reasons === undefined) throw error;
      if (reasons.some(isConditionFailure)) return reasons;
      if (attempt === MAX_ATTEMPTS) throw error;
      await pause(fullJitterMs(BETWEEN_MEETINGS, attempt));
    }
  }
};
