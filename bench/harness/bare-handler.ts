import { type Call, operationOf } from './recorder.ts';
import type { RecordedRequest } from './recording.ts';

const CLIENTS = {
  DynamoDB_20120810: ['@aws-sdk/client-dynamodb', 'DynamoDBClient'],
  secretsmanager: ['@aws-sdk/client-secrets-manager', 'SecretsManagerClient'],
  TrentService: ['@aws-sdk/client-kms', 'KMSClient'],
} as const;

type Service = keyof typeof CLIENTS;

const serviceOf = ({ target = '' }: Call): Service => target.split('.')[0] as Service;

/** The source of one call: by the SDK, or by fetch to a provider. */
const sourceOf = (call: Call): string => {
  if (call.target !== undefined) {
    const input = call.body.replace(/"Message":("[^"]+")/, '"Message":Buffer.from($1,"base64")');
    return `() => ${serviceOf(call)}.send(new ${operationOf(call)}Command(${input}))`;
  }
  const { method, path, headers, body } = call;
  const options = JSON.stringify({ method, headers, ...(body === '' ? {} : { body }) });
  return `() => fetch(process.env.AWS_ENDPOINT_URL + ${JSON.stringify(path)}, ${options}).then((r) => r.json())`;
};

const roundTripsOf = (calls: readonly Call[]): string =>
  `[${[...Map.groupBy(calls, ({ roundTrip }) => roundTrip).values()]
    .map((group) => `[${group.map(sourceOf).join(',\n')}]`)
    .join(',\n')}]`;

/**
 * Returns the source of the bare handler that a function is compared with: it makes the recorded calls of the function with plain SDK
 * clients, in the same round trips, and returns the recorded result. It has no framework, validation, hashes or log.
 */
export const bareHandler = ({ calls, result }: Pick<RecordedRequest, 'calls' | 'result'>): string => {
  const aws = calls.filter(({ target }) => target !== undefined);
  const clients = [...Map.groupBy(aws, serviceOf)].map(([service, own]) => {
    const [module, client] = CLIENTS[service];
    const commands = [...new Set(own.map((call) => `${operationOf(call)}Command`))];
    return `import { ${[client, ...commands].join(', ')} } from '${module}';\nconst ${service} = new ${client}({});`;
  });
  return `${clients.join('\n')}
    export const handler = async () => {
      for (const calls of ${roundTripsOf(calls)}) await Promise.all(calls.map((call) => call()));
      return ${JSON.stringify(result)};
    };`;
};
