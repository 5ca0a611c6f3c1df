/** What the CLI shows of keys. Scripts rely on the names of the fields. */
import type { Administration } from '#admin/administration.ts';
import { readLastUsedDays } from '#admin/operations/key-limits.ts';
import { type ApiKey, secretEnd } from '#shared/api-keys/api-key-item.ts';
import { isoOf } from './option-parsers.ts';
import type { View } from './render.ts';

/** A key without its secrets, with the status that the authorizer makes of it and the day (UTC) of its latest request. */
type KeyView = Awaited<ReturnType<typeof readKeyViews>>[number];

/** Returns keys as they are shown. */
export const readKeyViews = async (admin: Administration, keys: readonly ApiKey[]) => {
  const keyIds = keys.map(({ key_id }) => key_id);
  const [lastUsed, sellers] = await Promise.all([readLastUsedDays(admin, keyIds), admin.sellers.list()]);
  return keys.map((key, index) => {
    const seller = sellers.find(({ seller_id }) => seller_id === key.seller_id);
    const isExpired = (key.expires_at ?? Number.POSITIVE_INFINITY) * 1000 <= admin.clock();
    const active = seller?.status === 'suspended' ? 'seller suspended' : isExpired ? 'expired' : 'active';
    return {
      key_id: key.key_id,
      seller_id: key.seller_id,
      seller_name: seller?.name ?? null,
      name: key.name,
      status: key.status === 'active' ? active : key.status,
      plan: key.plan,
      scopes: key.scopes,
      prefix: key.secrets[0]?.prefix ?? '',
      last_four: key.secrets[0]?.last_four ?? '',
      created_at: key.created_at,
      expires_at: isoOf(key.expires_at),
      last_used_on: lastUsed[index] ?? null,
      secrets: key.secrets.map((secret) => ({
        prefix: secret.prefix,
        last_four: secret.last_four,
        created_at: secret.created_at,
        created_by: secret.created_by,
        expires_at: isoOf(secretEnd(key, secret)),
      })),
    };
  });
};

/** The table of the keys of one seller, or of several. `isByExpiry`: a terminal shows when they expire, not their status. */
export const keyTable = (
  rows: readonly KeyView[],
  { ofSeveral = false, isByExpiry = false }: { ofSeveral?: boolean; isByExpiry?: boolean } = {},
): View => {
  const seller = ofSeveral ? ['seller_name'] : [];
  const state = isByExpiry ? 'expires_at' : 'status';
  return {
    items: 'keys',
    rows,
    fields: [
      ...['key_id', 'name', ...seller],
      ...['last_four', 'status', 'plan', 'last_used_on', 'expires_at', 'scopes', 'created_at'],
    ],
    terminalFields: ['key_id', 'name', ...seller, state],
  };
};

/** A key, and the table of its secrets. */
export const keyDetails = (key: KeyView): View[] => [
  {
    rows: [key],
    fields: [
      ...['key_id', 'seller_id', 'seller_name', 'name', 'status', 'plan', 'scopes'],
      ...['created_at', 'expires_at', 'last_used_on'],
    ],
  },
  { items: 'secrets', rows: key.secrets, fields: ['last_four', 'created_by', 'created_at', 'expires_at'] },
];
