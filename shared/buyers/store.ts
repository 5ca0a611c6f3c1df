import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';

interface Registration {
  readonly buyerId: string;
  /** ISO, UTC. */
  readonly registeredAt: string;
}

/** A registered buyer stays unchanged. */
export const registrationOf = (
  TableName: string,
  phoneHash: string,
  { buyerId, registeredAt }: Registration,
) => ({
  Update: {
    TableName,
    Key: buyerKey(phoneHash),
    UpdateExpression:
      'SET buyer_id = if_not_exists(buyer_id, :id), registered_at = if_not_exists(registered_at, :now)',
    ExpressionAttributeValues: { ':id': buyerId, ':now': registeredAt },
  },
});

/** For the local service. */
export const buyerStore = ({ client, name }: Table) => ({
  async register(phoneHash: string, buyerId: string, registeredAt: string): Promise<void> {
    await client.send(new UpdateCommand(registrationOf(name, phoneHash, { buyerId, registeredAt }).Update));
  },
});

export type BuyerStore = ReturnType<typeof buyerStore>;
