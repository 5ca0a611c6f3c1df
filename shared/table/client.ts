import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The table and a client for it. */
export interface Table {
  readonly name: string;
  readonly client: DynamoDBDocumentClient;
}

/** What a table call is given, in milliseconds. */
export interface Patience {
  readonly connectMs: number;
  readonly answerMs: number;
}

/** A table call takes milliseconds; one that takes a second will not answer, and a new connection often does. */
const IN_REGION: Patience = { connectMs: 500, answerMs: 1000 };
/** One busy machine is slow and not unwell. A count that was sent twice because its answer came late would refuse a request too many. */
const ON_ONE_MACHINE: Patience = { connectMs: 5000, answerMs: 5000 };

const MAX_ATTEMPTS = 3;

/**
 * Opens the table. `endpoint` is for the embedded database or an emulator; in AWS it is undefined and the Region decides.
 * Credentials come from the environment, as everywhere in Lambda.
 */
export const openTable = (
  name: string,
  endpoint?: string,
  { connectMs, answerMs }: Patience = endpoint === undefined ? IN_REGION : ON_ONE_MACHINE,
): Table => {
  const client = new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
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
