import type { Administration } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { type KeyView, keyView } from './views.ts';

const lastDay = (days: readonly (string | undefined)[]): string | undefined =>
  days
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);

/** Keys as they are shown, with the day each was last used: the latest of its secrets. */
export const readKeyViews = async (admin: Administration, keys: readonly ApiKey[]): Promise<KeyView[]> => {
  const secrets = await admin.keys.findSecrets(keys.flatMap((key) => key.secrets.map(({ hash }) => hash)));
  return keys.map((key) =>
    keyView(key, admin.clock(), lastDay(key.secrets.map(({ hash }) => secrets.get(hash)?.last_used_day))),
  );
};
