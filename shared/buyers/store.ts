import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

/** A registered buyer stays unchanged. `nowIso`: UTC. */
export const registrationOf = (TableName: string, phoneHash: string, buyerId: string, nowIso: string) => ({
  Update: {
    TableName,
    Key: buyerKey(phoneHash),
    UpdateExpression:
      'SET buyer_id = if_not_exists(buyer_id, :id), registered_at = if_not_exists(registered_at, :now)',
    ExpressionAttributeValues: { ':id': buyerId, ':now': nowIso },
  },
});

/** For the local service. */
export const buyerStore = ({ client, name }: Table) => ({
  async register(phoneHash: string, buyerId: string, nowIso: string): Promise<void> {
    await client.send(new UpdateCommand(registrationOf(name, phoneHash, buyerId, nowIso).Update));
  },
});

export type BuyerStore = ReturnType<typeof buyerStore>;
