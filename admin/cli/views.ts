/** What the CLI shows of sellers and keys. Scripts rely on the names of the fields. */
import type { Administration } from '#admin/administration.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { type ApiKey, secretEnd } from '#shared/api-keys/api-key-item.ts';
import type { Block, Table } from './render.ts';
import { isoOf } from './times.ts';

/** `1 user`, `2,000 users` */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

export const sellerView = ({ seller_id, name, status, created_at, ...seller }: Seller) => ({
  seller_id,
  name,
  status,
  users: seller.user_count - seller.removed_count,
  created_at,
});

export const sellerTable = (sellers: readonly Seller[]): Table => ({
  items: 'sellers',
  rows: sellers.map(sellerView),
  fields: ['seller_id', 'name', 'status', 'users', 'created_at'],
});

/** What the authorizer makes of a key. */
const statusOf = ({ status, expires_at }: ApiKey, seller: Seller | undefined, nowMs: number): string => {
  if (status !== 'active') return status;
  if (seller?.status === 'suspended') return 'seller suspended';
  return (expires_at ?? Number.POSITIVE_INFINITY) * 1000 <= nowMs ? 'expired' : status;
};

/** A key without its secrets. `lastUsedOn`: a day (UTC). */
const keyView = (
  key: ApiKey,
  seller: Seller | undefined,
  about: { nowMs: number; lastUsedOn?: string | undefined },
) => ({
  key_id: key.key_id,
  seller_id: key.seller_id,
  seller_name: seller?.name ?? null,
  name: key.name,
  status: statusOf(key, seller, about.nowMs),
  plan: key.plan,
  scopes: key.scopes,
  prefix: key.secrets[0]?.prefix ?? '',
  last_four: key.secrets[0]?.last_four ?? '',
  created_at: key.created_at,
  expires_at: isoOf(key.expires_at),
  last_used_on: about.lastUsedOn ?? null,
  secrets: key.secrets.map((secret) => ({
    prefix: secret.prefix,
    last_four: secret.last_four,
    created_at: secret.created_at,
    created_by: secret.created_by,
    expires_at: isoOf(secretEnd(key, secret)),
  })),
});

export type KeyView = ReturnType<typeof keyView>;

/** Returns keys as they are shown, with the day each was last used, by any of its secrets. */
export const readKeyViews = async (admin: Administration, keys: readonly ApiKey[]): Promise<KeyView[]> => {
  const sellerIds = [...new Set(keys.map(({ seller_id }) => seller_id))];
  const [secrets, sellers] = await Promise.all([
    admin.keys.findSecrets(keys),
    sellerIds.length > 1 ? admin.sellers.list() : Promise.all(sellerIds.map((id) => admin.sellers.find(id))),
  ]);
  return keys.map((key) => {
    const days = key.secrets.map(({ hash }) => secrets.get(hash)?.last_used_day);
    return keyView(
      key,
      sellers.find((seller) => seller?.seller_id === key.seller_id),
      {
        nowMs: admin.clock(),
        lastUsedOn: days
          .filter((day) => day !== undefined)
          .sort()
          .at(-1),
      },
    );
  });
};

/** `withSeller`: the keys are of several sellers. */
export const keyTable = (keys: readonly KeyView[], withSeller = false): Table => ({
  items: 'keys',
  rows: keys,
  fields: [
    'key_id',
    ...(withSeller ? ['seller_name'] : []),
    'name',
    'last_four',
    // A revoked key looks like any other without it.
    'status',
    'plan',
    'last_used_on',
    'expires_at',
    'scopes',
    'created_at',
  ],
  optional: 5,
});

const KEY_FIELDS = [
  ...['key_id', 'seller_id', 'seller_name', 'name', 'status', 'plan', 'scopes'],
  ...['created_at', 'expires_at', 'last_used_on'],
];

export const keyDetails = (key: KeyView): Block[] => [
  { item: key, fields: KEY_FIELDS },
  { items: 'secrets', rows: key.secrets, fields: ['last_four', 'created_by', 'created_at', 'expires_at'] },
];
