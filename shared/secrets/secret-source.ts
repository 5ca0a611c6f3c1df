import files from 'node:fs';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Clock, monotonicClock, systemClock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { currentRequest, timedCall } from '#shared/request-context.ts';

export interface SecretSource {
  /** Cached for a while. Throws if there is no value. */
  read(): Promise<string>;
}

const SCHEME = 'file:';

/** The path in `file:<path>`; undefined for any other address. */
export const pathIn = (address: string): string | undefined =>
  address.startsWith(SCHEME) ? address.slice(SCHEME.length) : undefined;

/** Reads the file each time, so that an edit takes effect at once. Functions on AWS read none and do not load node:fs/promises for it. */
export const fileSecret = (path: string): SecretSource => ({
  read: () => files.promises.readFile(path, 'utf8'),
});

/** Of a call to Secrets Manager or KMS, in milliseconds. */
export const TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true };

/** The age at which a value is read again, so that every container has a rotated secret within this time. */
const REFRESH_AFTER_MS = 15 * 60 * 1000;
/** The time until the next attempt after a failed refresh. */
const RETRY_AFTER_MS = 30 * 1000;
/** The timeout of a refresh, retries of the SDK included: a request that waits for it can still use the last good value. */
const REFRESH_TIMEOUT_MS = 1000;

/** Both measure an age: the monotonic clock stands still while Lambda freezes a container, the system clock may be set back. */
const CLOCKS: readonly Clock[] = [monotonicClock, systemClock];

/** Options for tests; a deployment uses the defaults. */
interface TimeSources {
  readonly clocks?: readonly Clock[];
  readonly timeoutSignal?: (timeoutMs: number) => AbortSignal;
}

/** Concurrent reads share one call. If a refresh fails, the last good value stays in use and `secret_refresh_failed` is logged. */
export const secretsManagerSecret = (
  secretId: string,
  client: Pick<SecretsManagerClient, 'send'> = new SecretsManagerClient({ requestHandler: TIMEOUTS }),
  { clocks = CLOCKS, timeoutSignal = AbortSignal.timeout }: TimeSources = {},
): SecretSource => {
  let lastGood: string | undefined;
  let isDue = (): boolean => true;
  let reading: Promise<string> | undefined;

  const refreshAfter = (ms: number): void => {
    const due = clocks.map((clock) => ({ clock, atMs: clock() + ms }));
    isDue = () => due.some(({ clock, atMs }) => clock() >= atMs);
  };

  const getValue = async (abortSignal: AbortSignal | undefined): Promise<string> => {
    const command = new GetSecretValueCommand({ SecretId: secretId });
    const { SecretString } = await timedCall('secretsmanager:GetSecretValue', () =>
      client.send(command, { abortSignal }),
    );
    if (SecretString === undefined) throw new Error('the secret holds no text');
    return SecretString;
  };

  const load = async (): Promise<string> => {
    try {
      lastGood = await getValue(
        lastGood === undefined ? currentRequest()?.deadline.signal : timeoutSignal(REFRESH_TIMEOUT_MS),
      );
      refreshAfter(REFRESH_AFTER_MS);
    } catch (error) {
      if (lastGood === undefined) throw error;
      logEvent('secret_refresh_failed', { secret: secretId, ...errorFields(error) });
      refreshAfter(RETRY_AFTER_MS);
    }
    return lastGood;
  };

  return {
    async read() {
      if (lastGood !== undefined && !isDue()) return lastGood;
      reading ??= load().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
};

/** `file:<path>`, or a name or ARN of Secrets Manager. */
export const secretAt = (address: string): SecretSource => {
  const path = pathIn(address);
  return path === undefined ? secretsManagerSecret(address) : fileSecret(path);
};

export const providerSecretFromEnv = (): SecretSource =>
  secretAt(readEnv(['PROVIDER_SECRET']).PROVIDER_SECRET);
