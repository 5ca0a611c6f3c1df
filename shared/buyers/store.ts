import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

/** Returns the store of registered buyers. */
export const buyerStore = ({ client, name: TableName }: Table) => ({
  /** Registers the buyer of a phone. A registered buyer stays unchanged. `nowIso`: UTC. */
  async register(phoneHash: string, buyerId: string, nowIso: string): Promise<void> {
    await client.send(
      new UpdateCommand({
        TableName,
        Key: buyerKey(phoneHash),
        UpdateExpression:
          'SET buyer_id = if_not_exists(buyer_id, :id), registered_at = if_not_exists(registered_at, :now)',
        ExpressionAttributeValues: { ':id': buyerId, ':now': nowIso },
      }),
    );
  },
});

export type BuyerStore = ReturnType<typeof buyerStore>;
