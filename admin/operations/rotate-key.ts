import type { Administration } from '#admin/administration.ts';
import { type ApiKey, type SecretSummary, secretEnd } from '#admin/stores/api-key-schema.ts';
import { flushChange, requireActive, writeChange } from './change-key.ts';
import { type IssuedKey, newSecret } from './issue-key.ts';
import { refusal } from './refusal.ts';

/** More would not fit well into one transaction, and nobody needs them: each has to be in its grace still. */
const MAX_SECRETS = 10;

const endNoLaterThan = (key: ApiKey, secret: SecretSummary, end: number): SecretSummary => ({
  ...secret,
  ends_at: Math.min(secretEnd(key, secret) ?? end, end),
});

/** The key with a new secret. Every older one ends with the grace at the latest; those that have ended are forgotten. */
const rotated = (key: ApiKey, added: SecretSummary, nowSeconds: number, graceSeconds: number): ApiKey => {
  const older = key.secrets
    .filter((secret) => (secretEnd(key, secret) ?? Number.POSITIVE_INFINITY) > nowSeconds)
    .map((secret) => endNoLaterThan(key, secret, nowSeconds + graceSeconds));
  if (older.length >= MAX_SECRETS) {
    throw refusal(
      'too_many_secrets',
      `${key.key_id} has ${older.length} secrets in their grace; wait, or revoke it.`,
    );
  }
  return { ...key, secrets: [added, ...older] };
};

/**
 * Gives a key a new secret: same id, plan, bucket and end. The old secret ends at the earlier of its own end and now + grace; with no
 * grace, at once. One transaction starts the new and ends the old. If it is interrupted before the secret was shown, rotate again.
 */
export const rotateKey = async (
  admin: Administration,
  keyId: string,
  graceSeconds: number,
): Promise<IssuedKey> => {
  const { text, summary } = newSecret(admin);
  const nowSeconds = Math.floor(admin.clock() / 1000);
  const change = await writeChange(admin, keyId, 'rotate: start the new secret, end the old', (key) => ({
    after: rotated(requireActive(key), summary, nowSeconds, graceSeconds),
    action: 'key.rotated',
    details: { grace_seconds: graceSeconds, last_four: summary.last_four },
  }));
  await flushChange(admin, 'rotate', change);
  return { key: change.after, secret: text };
};
