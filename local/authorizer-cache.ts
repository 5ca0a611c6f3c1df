import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { AuthorizerCache } from '#admin/usage-plans/port.ts';
import type { Table } from '#shared/table/client.ts';
import { getItem } from '#shared/table/reads.ts';

/** In the service's table, where the gateway reads it: the CLI is another process. */
const FLUSHES = { pk: 'LOCAL#FLUSHES', sk: 'FLUSHES' };

/** The authorizer cache of the gateway on one machine. `flushes`: how often it was flushed. */
export const localAuthorizerCache = (
  table: Table,
): AuthorizerCache & { readonly flushes: () => Promise<number> } => ({
  async flush() {
    const ExpressionAttributeValues = { ':one': 1 };
    const add = { UpdateExpression: 'ADD flushes :one', ExpressionAttributeValues };
    await table.client.send(new UpdateCommand({ TableName: table.name, Key: FLUSHES, ...add }));
  },
  flushes: async () => Number((await getItem(table, FLUSHES))?.flushes ?? 0),
});
