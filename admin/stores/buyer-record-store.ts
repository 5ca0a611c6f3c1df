import { BatchGetCommand, DeleteCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

const buyerSchema = v.object({ buyer_id: v.string(), registered_at: v.string() });

/** A buyer as an admin may see it: nothing of the phone. */
export type Buyer = v.InferOutput<typeof buyerSchema>;

/** What admins do with single buyers; requests never do. `phoneHashes`: under the current secret and any older one still in use. */
export const buyerRecordStore = ({ client, name: TableName }: Table) => ({
  async find(phoneHashes: readonly string[]): Promise<Buyer | undefined> {
    const { Responses } = await client.send(
      new BatchGetCommand({
        RequestItems: { [TableName]: { Keys: phoneHashes.map(buyerKey), ConsistentRead: true } },
      }),
    );
    const item = Responses?.[TableName]?.[0];
    return item && v.parse(buyerSchema, item);
  },

  /** Makes the phone unknown again. Links that sellers made stay as they are. */
  async remove(phoneHashes: readonly string[]): Promise<void> {
    for (const hash of phoneHashes) {
      await client.send(new DeleteCommand({ TableName, Key: buyerKey(hash) }));
    }
  },
});

export type BuyerRecordStore = ReturnType<typeof buyerRecordStore>;
