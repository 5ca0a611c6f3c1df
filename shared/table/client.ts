import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The table and a client for it. */
export interface Table {
  readonly name: string;
  readonly client: DynamoDBDocumentClient;
}

const CONNECTION_TIMEOUT_MS = 500;
/** A table call takes milliseconds; one that takes a second will not answer, and a new connection often does. */
const REQUEST_TIMEOUT_MS = 1000;
const MAX_ATTEMPTS = 3;

/**
 * Opens the table. `endpoint` is for the embedded database or an emulator; in AWS it is undefined and the Region decides.
 * Credentials come from the environment, as everywhere in Lambda.
 */
export const openTable = (name: string, endpoint?: string): Table => {
  const client = new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Without this the SDK only warns about a request that takes too long.
      throwOnRequestTimeout: true,
    },
  });
  // The SDK's own logger copies every input and output, though nothing reads them: a tenth of a warm call's CPU.
  client.middlewareStack.remove('loggerMiddleware');
  return {
    name,
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
  };
};
