import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Table } from '#shared/table/client.ts';

/** An admin's command may wait where a request may not: it outlasts a throttled table. */
const MAX_ATTEMPTS = 10;
const CONNECTION_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 20_000;

type ClientOptions = NonNullable<ConstructorParameters<typeof DynamoDBClient>[0]>;

/** The table for the CLI. */
export const openAdminTable = (name: string, options: ClientOptions): Table => ({
  name,
  client: DynamoDBDocumentClient.from(
    new DynamoDBClient({
      maxAttempts: MAX_ATTEMPTS,
      requestHandler: new NodeHttpHandler({
        connectionTimeout: CONNECTION_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      }),
      ...options,
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  ),
});
