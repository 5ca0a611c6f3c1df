/** The rules of a rotation: how a key gets a new secret and when its older secrets end. */
import type { KeyPrefix } from '#shared/env.ts';
import { type ApiKey, type SecretSummary, secretEnd } from './api-key.ts';
import { hashApiKey, lastFourOf, newApiKey } from './format.ts';

/** A secret in plain text, and the summary of it that is stored. The text exists only in the response that shows it once. */
export interface NewSecret {
  readonly text: string;
  readonly summary: SecretSummary;
}

/** Generates a secret. */
export const newSecret = (
  prefix: KeyPrefix,
  { created_at, created_by }: Pick<SecretSummary, 'created_at' | 'created_by'>,
): NewSecret => {
  const text = newApiKey(prefix);
  return {
    text,
    summary: { hash: hashApiKey(text), prefix, last_four: lastFourOf(text), created_at, created_by },
  };
};

/** Returns the secrets of a key that have not ended, newest first. */
export const validSecrets = (key: ApiKey, nowSeconds: number): SecretSummary[] =>
  key.secrets.filter((secret) => (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY) > nowSeconds);

/** Returns the key with a new secret. Every older secret ends at `olderEnd` (epoch seconds) at the latest; ended secrets are dropped. */
export const rotated = (
  key: ApiKey,
  added: SecretSummary,
  { nowSeconds, olderEnd }: { readonly nowSeconds: number; readonly olderEnd: number },
): ApiKey => {
  const older = validSecrets(key, nowSeconds).map((secret) => ({
    ...secret,
    ends_at: Math.min(secretEnd(key, secret) ?? olderEnd, olderEnd),
  }));
  return { ...key, secrets: [added, ...older] };
};
