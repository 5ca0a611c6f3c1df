import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { retryUntil } from '#shared/table/backoff.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import { unlessConflict } from '#shared/table/writes.ts';

/** How long a registration is retried while transactions of links hold the buyer's item. Each holds it for some milliseconds. */
const CONFLICTS_TIMEOUT_MS = 1000;

/** Returns the store of registered buyers. */
export const buyerStore = ({ client, name: TableName }: Table) => ({
  /** Registers the buyer of a phone. A registered buyer stays unchanged. `nowIso`: UTC. Retries if a link of the buyer conflicts. */
  async register(phoneHash: string, buyerId: string, nowIso: string): Promise<void> {
    const update = {
      TableName,
      Key: buyerKey(phoneHash),
      UpdateExpression:
        'SET buyer_id = if_not_exists(buyer_id, :id), registered_at = if_not_exists(registered_at, :now)',
      ExpressionAttributeValues: { ':id': buyerId, ':now': nowIso },
    };
    await retryUntil(performance.now() + CONFLICTS_TIMEOUT_MS, () =>
      unlessConflict(client.send(new UpdateCommand(update))),
    );
  },
});

export type BuyerStore = ReturnType<typeof buyerStore>;
