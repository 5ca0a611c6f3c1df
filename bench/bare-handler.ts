import type { Call, RoundTrips } from './calls.ts';

/** The SDK in a bare handler. The bundle holds only the clients and commands that the handler uses. */
const SDK = `
import * as DynamoDB_20120810Sdk from '@aws-sdk/client-dynamodb';
import * as secretsmanagerSdk from '@aws-sdk/client-secrets-manager';
import * as TrentServiceSdk from '@aws-sdk/client-kms';
const DynamoDB_20120810 = /* @__PURE__ */ new DynamoDB_20120810Sdk.DynamoDBClient({});
const secretsmanager = /* @__PURE__ */ new secretsmanagerSdk.SecretsManagerClient({});
const TrentService = /* @__PURE__ */ new TrentServiceSdk.KMSClient({});`;

/** The source of a call: by the SDK, or by fetch to a provider. */
const sourceOf = ({ target, method, path, headers, body }: Call): string => {
  if (target === undefined) {
    const options = JSON.stringify({ method, headers, ...(body && { body }) });
    return `fetch(process.env.AWS_ENDPOINT_URL + '${path}', ${options}).then((r) => r.json())`;
  }
  const [service, operation] = target.split('.');
  const input = body.replace(/"Message":("[^"]+")/, '"Message":Buffer.from($1,"base64")');
  return `${service}.send(new ${service}Sdk.${operation}Command(${input}))`;
};

/**
 * Returns the source of the bare handler that a function is compared with: it makes the recorded calls of the function with plain SDK
 * clients, in the same round trips, and returns the recorded result. It has no framework, validation, hashes or log.
 */
export const bareHandler = (roundTrips: RoundTrips, result: object): string => `${SDK}
export const handler = async () => {
  ${roundTrips.map((calls) => `await Promise.all([${calls.map(sourceOf).join(', ')}]);`).join('\n')}
  return ${JSON.stringify(result)};
};`;
