import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { accessRows } from '#shared/access.ts';
import { isUsable } from '#shared/api-keys/api-key-item.ts';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import { policyFor } from '#shared/api-keys/caller.ts';
import { hashApiKey, isWellFormedKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { systemClock } from '#shared/clock.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { bindOnce, readEnv } from '#shared/env.ts';
import { headerOf, requestIdOf } from '#shared/http/request.ts';
import { isDependencyFailure } from '#shared/http/server-errors.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { runInRequest } from '#shared/request-context.ts';
import { tableFromEnv } from '#shared/table/client.ts';

type Deps = ReturnType<typeof build>;

/** API Gateway returns 401 for exactly this message. */
const refuse = (outcome: 'malformed' | 'unknown' | 'unusable'): never => {
  logEvent('key_checked', { outcome });
  throw new Error('Unauthorized');
};

/** Logs why there is no decision. That the table gave no answer is counted: it explains the 5xx response of API Gateway. */
const logFailure = (error: unknown): never => {
  if (isDependencyFailure(error)) logEvent('key_checked', { outcome: 'unavailable' });
  logEvent('request_failed', errorFields(error));
  throw error;
};

const decide = async (
  event: APIGatewayRequestAuthorizerEvent,
  { secrets, keyPrefix, clock }: Deps,
): Promise<APIGatewayAuthorizerResult> => {
  const key = headerOf(event, 'x-api-key') ?? '';
  if (!isWellFormedKey(key, keyPrefix)) return refuse('malformed');
  const secret = await secrets.findSecret(hashApiKey(key)).catch(logFailure);
  if (secret === undefined) return refuse('unknown');
  if (!isUsable(secret, clock())) return refuse('unusable');
  const { seller_id, key_id, plan } = secret;
  logEvent('key_checked', { outcome: 'allowed', seller_id, key_id, plan });
  return policyFor(secret, event.methodArn, accessRows);
};

/**
 * Format and checksum first, then one read; it writes nothing. Throws `Unauthorized` for an invalid key; after a failure of the database
 * another error, for which API Gateway returns 503 and not 401.
 */
export const authorize = (
  event: APIGatewayRequestAuthorizerEvent,
  deps: Deps,
  timeMs = authorizer.deadlineSeconds * 1000,
): Promise<APIGatewayAuthorizerResult> =>
  runInRequest(
    {
      // The same id as in the endpoint's log lines.
      requestId: requestIdOf(event),
      operation: authorizer.name,
      deadline: deadlineIn(timeMs),
      calls: [],
    },
    () => decide(event, deps),
  );

export const build = () => ({
  secrets: keySecretStore(tableFromEnv()),
  keyPrefix: readEnv(['KEY_PREFIX']).KEY_PREFIX,
  clock: systemClock,
});

const deps = bindOnce(build);

export const handler = (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> =>
  authorize(event, deps());
