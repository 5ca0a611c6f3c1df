import type { Administration } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import { newSecret, rotated, validSecrets } from '#shared/api-keys/secret.ts';
import { changeKey, requireActive } from './change-key.ts';
import type { IssuedKey } from './issue-key.ts';

/** All secrets of a key are written in one transaction, which holds 100 items. Ten rotations within one grace period are a mistake. */
const MAX_SECRETS = 10;

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
  const { text, summary } = newSecret(admin.keyPrefix, { created_at: admin.now(), created_by: 'admin' });
  const nowSeconds = Math.floor(admin.clock() / 1000);
  const key = await changeKey(admin, keyId, {
    name: 'rotate',
    write: 'add the new secret, end the old',
    action: 'key.rotated',
    change: (before) => {
      const valid = validSecrets(requireActive(before), nowSeconds);
      if (valid.length >= MAX_SECRETS) {
        throw refusal(
          'too_many_secrets',
          `${keyId} has ${valid.length} valid secrets. Wait until one of them ends, or revoke the key.`,
        );
      }
      return {
        after: rotated(before, summary, { nowSeconds, olderEnd: nowSeconds + graceSeconds }),
        details: { grace_seconds: graceSeconds, last_four: summary.last_four },
      };
    },
  });
  return { key, secret: text };
};
