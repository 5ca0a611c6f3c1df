import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { type ApiKey, type SecretSummary, secretEnd } from '#admin/stores/api-key-schema.ts';
import { changeKey, requireActive } from './change-key.ts';
import { type IssuedKey, newSecret } from './issue-key.ts';

/** All secrets of a key are written in one transaction, which holds 100 items. Ten rotations within one grace period are a mistake. */
const MAX_SECRETS = 10;

const endNoLaterThan = (key: ApiKey, secret: SecretSummary, end: number): SecretSummary => ({
  ...secret,
  ends_at: Math.min(secretEnd(key, secret) ?? end, end),
});

/** The key with a new secret. Every older secret ends with the grace period at the latest; ended secrets are dropped. */
const rotated = (key: ApiKey, added: SecretSummary, nowSeconds: number, graceSeconds: number): ApiKey => {
  const older = key.secrets
    .filter((secret) => (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY) > nowSeconds)
    .map((secret) => endNoLaterThan(key, secret, nowSeconds + graceSeconds));
  if (older.length >= MAX_SECRETS) {
    throw refusal(
      'too_many_secrets',
      `${key.key_id} has ${older.length} valid secrets. Wait until one of them ends, or revoke the key.`,
    );
  }
  return { ...key, secrets: [added, ...older] };
};

/**
 * Gives a key a new secret. Id, plan, limits and expiry stay. The old secret ends at the earlier of its own end and now plus
 * `graceSeconds`; with 0, at once. One transaction adds the new secret and sets the end of the old one. If it is interrupted before
 * the new secret was shown, rotate again.
 */
export const rotateKey = async (
  admin: Administration,
  keyId: string,
  graceSeconds: number,
): Promise<IssuedKey> => {
  const { text, summary } = newSecret(admin);
  const nowSeconds = Math.floor(admin.clock() / 1000);
  const key = await changeKey(admin, keyId, {
    name: 'rotate',
    write: 'add the new secret, end the old',
    action: 'key.rotated',
    plan: (before) => ({
      after: rotated(requireActive(before), summary, nowSeconds, graceSeconds),
      details: { grace_seconds: graceSeconds, last_four: summary.last_four },
    }),
  });
  return { key, secret: text };
};
