import { type ApiKey, type SecretSummary, secretEnd } from '#shared/api-keys/api-key-item.ts';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import { validSecrets } from '#shared/api-keys/secret.ts';
import { KEY_LIMIT_NAMES, keyLimit, minuteLimit } from '#shared/rate-limits/key-limits.ts';

/** Twice the time of the cache: a decision on the key as it was may be cached until the change is written, some seconds after `nowSeconds`. */
const REACH_SECONDS = 2 * DECISION_CACHE_SECONDS;

const limitsOf = (
  { key_id: keyId, plan, limits = {} }: ApiKey,
  registryIsSandbox: boolean,
): readonly number[] =>
  [
    minuteLimit({ keyId, plan }),
    ...KEY_LIMIT_NAMES.map((name) => keyLimit(name, { keyId, plan, limits, registryIsSandbox })),
  ].map(({ limit }) => limit);

/** Epoch seconds; never is infinity, and a secret that the key lacks has ended. */
const endIn = (key: ApiKey, { hash }: SecretSummary): number => {
  const secret = key.secrets.find((each) => each.hash === hash);
  return secret === undefined ? 0 : (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY);
};

/**
 * Whether a change takes something from an active key that a cached decision would still allow: a scope, a part of a limit, or a secret that
 * ends before the decision is forgotten. API Gateway can only flush the decisions on all keys of a stage, and each key in use is then read
 * again, so what is added to a key waits until its own decision is forgotten.
 */
export const isReduced = (
  { before, after }: { readonly before: ApiKey; readonly after: ApiKey },
  nowSeconds: number,
  registryIsSandbox: boolean,
): boolean => {
  const limits = limitsOf(after, registryIsSandbox);
  return (
    before.scopes.some((scope) => !after.scopes.includes(scope)) ||
    limitsOf(before, registryIsSandbox).some((limit, index) => limit > (limits[index] ?? 0)) ||
    validSecrets(before, nowSeconds).some((secret) => {
      const end = endIn(after, secret);
      return end < endIn(before, secret) && end < nowSeconds + REACH_SECONDS;
    })
  );
};
