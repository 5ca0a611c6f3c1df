import type { Administration } from '#shared/administration/context.ts';
import type { ApiKey } from '#shared/api-keys/key-schema.ts';
import { type KeyView, keyView } from './views.ts';

/** As many secrets as one look-up takes. */
const SECRETS_PER_LOOKUP = 100;

const lastDay = (days: readonly (string | undefined)[]): string | undefined =>
  days
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);

/** Keys as they are shown, with the day each was last used: the latest of its secrets. */
export const readKeyViews = async (admin: Administration, keys: readonly ApiKey[]): Promise<KeyView[]> => {
  const hashes = keys.flatMap((key) => key.secrets.map(({ hash }) => hash));
  const usedOn = new Map<string, string | undefined>();
  for (let start = 0; start < hashes.length; start += SECRETS_PER_LOOKUP) {
    const found = await admin.keys.findSecrets(hashes.slice(start, start + SECRETS_PER_LOOKUP));
    for (const [hash, secret] of found) usedOn.set(hash, secret.last_used_day);
  }
  return keys.map((key) =>
    keyView(key, admin.clock(), lastDay(key.secrets.map(({ hash }) => usedOn.get(hash)))),
  );
};
