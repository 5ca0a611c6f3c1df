import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretSource } from './port.ts';

const CONNECTION_TIMEOUT_MS = 1000;
const REQUEST_TIMEOUT_MS = 2000;

/** A container re-reads a secret this often, so that a rotation reaches it within that time. */
const CACHE_MS = 15 * 60 * 1000;

/** A secret of AWS Secrets Manager, by name or ARN. Concurrent reads share one call; a failed one is not remembered. */
export const secretsManagerSecret = (
  secretId: string,
  client: Pick<SecretsManagerClient, 'send'> = new SecretsManagerClient({
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  }),
): SecretSource => {
  let reading: Promise<string> | undefined;
  let readAt = 0;
  const readNow = async (): Promise<string> => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (SecretString === undefined) throw new Error('the secret holds no text');
    return SecretString;
  };
  return {
    read({ fresh = false } = {}) {
      if (reading === undefined || fresh || Date.now() - readAt > CACHE_MS) {
        readAt = Date.now();
        const started = readNow();
        reading = started;
        started.catch(() => {
          // A read that began later stands in its place by now, and may have gone well.
          if (reading === started) reading = undefined;
        });
      }
      return reading;
    },
  };
};
