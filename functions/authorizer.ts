import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { hashApiKey, isWellFormedKey, type KeyPrefix } from '#shared/api-keys/format.ts';
import { policyFor } from '#shared/api-keys/policy.ts';
import { isUsable } from '#shared/api-keys/rules.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import type { KeySecretStore } from '#shared/api-keys/store.ts';
import { bindOnce } from '#shared/bind-once.ts';
import type { Clock } from '#shared/clock.ts';
import { authorizerDeps } from '#shared/deps.ts';
import { headerOf, requestIdOf } from '#shared/http/event.ts';
import { errorFields, logEvent } from '#shared/log.ts';

export interface AuthorizerDeps {
  readonly secrets: Pick<KeySecretStore, 'findSecret' | 'noteUse'>;
  readonly keyPrefix: KeyPrefix;
  readonly clock: Clock;
}

/** API Gateway answers 401 to this very message, and to no other. One message for every reason why a key is refused. */
const UNAUTHORIZED = 'Unauthorized';

/**
 * Notes the day of use, at most once a day and secret. A function freezes once it has answered, so it is awaited; but it never fails a
 * request: an unnoted day is noted by the next judgement.
 */
const noteUse = async (
  secrets: Pick<KeySecretStore, 'noteUse'>,
  secretHash: string,
  { last_used_day }: KeySecret,
  nowMs: number,
): Promise<void> => {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  if (last_used_day !== undefined && last_used_day >= today) return;
  try {
    await secrets.noteUse(secretHash, today);
  } catch {
    // Knowing the day is not worth a caller's request.
  }
};

/** Judges a key: shape and checksum first, then one read. What it allows is in the policy; who it is, in the context. */
export const judge = async (
  event: APIGatewayRequestAuthorizerEvent,
  { secrets, keyPrefix, clock }: AuthorizerDeps,
): Promise<APIGatewayAuthorizerResult> => {
  // The id that callers see, as in every endpoint: what the two functions log of one request is found together.
  const requestId = requestIdOf(event);
  const refuse = (outcome: string): never => {
    logEvent('key_checked', { request_id: requestId, outcome });
    throw new Error(UNAUTHORIZED);
  };
  const key = headerOf(event, 'x-api-key') ?? '';
  if (!isWellFormedKey(key, keyPrefix)) return refuse('malformed');
  const secretHash = hashApiKey(key);
  const secret = await secrets.findSecret(secretHash).catch((error: unknown) => {
    // A refused key is an error to Lambda too, so only this line tells the alarm that the authorizer itself is broken.
    logEvent('request_failed', { request_id: requestId, operation: 'authorizer', ...errorFields(error) });
    throw error;
  });
  if (secret === undefined) return refuse('unknown');
  if (!isUsable(secret, clock())) return refuse('unusable');
  logEvent('key_checked', {
    request_id: requestId,
    outcome: 'allowed',
    seller_id: secret.seller_id,
    key_id: secret.key_id,
    plan: secret.plan,
  });
  await noteUse(secrets, secretHash, secret, clock());
  return policyFor(secret, event.methodArn);
};

const deps = bindOnce<AuthorizerDeps>(authorizerDeps);

export const handler = (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> =>
  judge(event, deps());
