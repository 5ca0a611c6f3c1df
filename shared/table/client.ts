import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readEnv } from '#shared/env.ts';
import { currentRequest, timedCall } from '#shared/request-context.ts';

export interface Table {
  readonly name: string;
  readonly client: DynamoDBDocumentClient;
}

interface TableTimeouts {
  readonly connectMs: number;
  readonly responseMs: number;
}

/** In its Region a table responds within milliseconds. After a second without a response a new connection is more likely to get one. */
const IN_REGION: TableTimeouts = { connectMs: 500, responseMs: 1000 };
/** A busy laptop is slow, but up. A count that is resent because its response came late would refuse one request too many. */
const ON_ONE_MACHINE: TableTimeouts = { connectMs: 5000, responseMs: 5000 };

const MAX_ATTEMPTS = 3;

/** The longest time of a call within a request, all attempts included: a request that calls a provider has a later deadline of its own. */
const MAX_CALL_MS = 3000;

/** `endpoint`: the embedded database or an emulator; undefined on AWS. Within a request each call ends at its deadline and is recorded. */
export const openTable = (
  name: string,
  endpoint?: string,
  { connectMs, responseMs }: TableTimeouts = endpoint === undefined ? IN_REGION : ON_ONE_MACHINE,
): Table => {
  const base = new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: responseMs,
      // Without this the SDK only warns about a request that takes too long.
      throwOnRequestTimeout: true,
    },
  });
  // The SDK's logger copies every input and output although nothing reads them: a tenth of a warm call's CPU.
  base.middlewareStack.remove('loggerMiddleware');
  base.middlewareStack.add(
    (next, { commandName = 'unknown' }) =>
      (args) =>
        timedCall(`dynamodb:${String(commandName).replace(/(?:Item)?Command$/, '')}`, () => next(args)),
    { step: 'initialize', name: 'callTimes' },
  );
  const client = DynamoDBDocumentClient.from(base, { marshallOptions: { removeUndefinedValues: true } });
  return { name, client: boundToRequest(client) };
};

export const tableFromEnv = (): Table => {
  const { TABLE_NAME, DYNAMODB_ENDPOINT } = readEnv(['TABLE_NAME', 'DYNAMODB_ENDPOINT']);
  return openTable(TABLE_NAME, DYNAMODB_ENDPOINT);
};

/** The client whose calls end at the deadline of the request that makes them, and earlier if the call has a signal of its own. */
const boundToRequest = (client: DynamoDBDocumentClient): DynamoDBDocumentClient => {
  const send = client.send.bind(client) as (command: object, options?: object) => Promise<unknown>;
  const sendInRequest = (command: object, options?: { readonly abortSignal?: AbortSignal }) => {
    const signal = currentRequest()?.deadline.signal;
    if (signal === undefined) return send(command, options);
    const own = options?.abortSignal ?? AbortSignal.timeout(MAX_CALL_MS);
    return send(command, { ...options, abortSignal: AbortSignal.any([signal, own]) });
  };
  return Object.assign(client, { send: sendInRequest });
};
