import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

export const buyerStore = ({ client, name: TableName }: Table) => ({
  /** Whether the phone is a buyer's in the buyer app. `phoneHashes`: under the current secret and any older one still in use. */
  async isRegistered(phoneHashes: readonly string[]): Promise<boolean> {
    // One GetItem a hash, not one BatchGetItem: a batch that is throttled leaves items out without an error.
    const found = await Promise.all(
      phoneHashes.map((hash) =>
        client.send(new GetCommand({ TableName, Key: buyerKey(hash), ConsistentRead: true })),
      ),
    );
    return found.some(({ Item }) => Item !== undefined);
  },

  /** Registers the buyer of a phone; one that is registered already stays as it is. `nowIso`: UTC. */
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
