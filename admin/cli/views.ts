import type { Administration } from '#admin/administration.ts';
import type { OwnTemplate } from '#admin/operations/seller-templates.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { type ApiKey, secretEnd } from '#shared/api-keys/api-key-item.ts';
import type { AuditRecord } from '#shared/audit.ts';
import type { Properties, TextTable } from './render.ts';
import { isoOf, shortTime } from './times.ts';

/** `1 user`, `2,000 users` */
export const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** A seller as `--json` shows it. Scripts rely on these names. */
export const sellerView = ({ seller_id, name, status, created_at, ...seller }: Seller) => ({
  seller_id,
  name,
  status,
  users: seller.user_count - seller.removed_count,
  created_at,
});

/** A key as `--json` shows it, without its secrets. `lastUsedOn`: a day (UTC). */
const keyView = (key: ApiKey, nowMs: number, lastUsedOn?: string) => ({
  key_id: key.key_id,
  seller_id: key.seller_id,
  name: key.name,
  status:
    key.status === 'active' && (key.expires_at ?? Number.POSITIVE_INFINITY) * 1000 <= nowMs
      ? 'expired'
      : key.status,
  plan: key.plan,
  scopes: key.scopes,
  prefix: key.secrets[0]?.prefix ?? '',
  last_four: key.secrets[0]?.last_four ?? '',
  created_at: key.created_at,
  expires_at: isoOf(key.expires_at),
  last_used_on: lastUsedOn ?? null,
  secrets: key.secrets.map((secret) => ({
    prefix: secret.prefix,
    last_four: secret.last_four,
    created_at: secret.created_at,
    created_by: secret.created_by,
    expires_at: isoOf(secretEnd(key, secret)),
  })),
});

export type KeyView = ReturnType<typeof keyView>;

const latest = (days: readonly (string | undefined)[]): string | undefined =>
  days
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);

/** Returns keys as they are shown, with the day each was last used, by any of its secrets. */
export const readKeyViews = async (admin: Administration, keys: readonly ApiKey[]): Promise<KeyView[]> => {
  const secrets = await admin.keys.findSecrets(keys);
  return keys.map((key) =>
    keyView(key, admin.clock(), latest(key.secrets.map(({ hash }) => secrets.get(hash)?.last_used_day))),
  );
};

/** Formats sellers as a table. */
export const sellerTable = (sellers: readonly Seller[]): TextTable => ({
  head: ['seller', 'name', 'status', 'users', 'created (UTC)'],
  rows: sellers
    .map(sellerView)
    .map((seller) => [
      seller.seller_id,
      seller.name,
      seller.status,
      seller.users,
      shortTime(seller.created_at),
    ]),
  items: 'sellers',
  optional: 1,
});

/** Formats the templates that a seller has of its own as a table. */
export const templateTable = (templates: readonly OwnTemplate[]): TextTable => ({
  head: ['provider', 'language', 'template'],
  rows: templates.map(({ provider, locale, template }) => [provider, locale, template]),
  items: 'templates of its own',
});

/** Formats keys as a table, without their secrets. `withSeller`: they are of several sellers. */
export const keyTable = (keys: readonly KeyView[], withSeller = false): TextTable => ({
  head: [
    'key',
    ...(withSeller ? ['seller'] : []),
    'name',
    'secret',
    'plan',
    'status',
    'last used',
    'expires (UTC)',
    'scopes',
    'created',
  ],
  rows: keys.map((key) => [
    key.key_id,
    ...(withSeller ? [key.seller_id] : []),
    key.name,
    `…${key.last_four}`,
    key.plan,
    key.status,
    key.last_used_on ?? 'never',
    shortTime(key.expires_at),
    key.scopes.join(' '),
    key.created_at.slice(0, 10),
  ]),
  items: 'keys',
  // The status must stay: a revoked key looks like any other without it.
  optional: 4,
});

const MAKERS = { admin: 'an admin', seller: 'the seller' } as const;

/** Formats all properties of a key, without its secrets. */
export const keyDetails = (key: KeyView): Properties => ({
  properties: [
    ['key', key.key_id],
    ['seller', key.seller_id],
    ['name', key.name],
    ['status', key.status],
    ['plan', key.plan],
    ['scopes', key.scopes.join(' ')],
    ['created (UTC)', shortTime(key.created_at)],
    ['expires (UTC)', shortTime(key.expires_at)],
    ['last used (day)', key.last_used_on ?? 'never'],
    ...key.secrets.map(({ prefix, last_four, created_by, expires_at }, index): [string, string] => [
      index === 0 ? 'secret' : 'older secret',
      `${prefix}…${last_four}, made by ${MAKERS[created_by]}${key.status === 'revoked' ? '' : `, expires ${shortTime(expires_at)}`}`,
    ]),
  ],
});

/** `sara` of `arn:aws:sts::000000000000:assumed-role/admin/sara`; `--json` has the whole ARN. */
const actorName = (actor: string): string => actor.slice(actor.lastIndexOf('/') + 1);

/** Formats audit records as a table. */
export const auditTable = (records: readonly AuditRecord[]): TextTable => ({
  head: ['time (UTC)', 'actor', 'action', 'details'],
  rows: records.map(({ at, actor, action, key_id, details }) => {
    const sorted = Object.entries(details).sort(([a], [b]) => a.localeCompare(b));
    const texts = sorted.map(([name, value]) => `${name}: ${value}`);
    return [
      at.slice(0, 19).replace('T', ' '),
      actorName(actor),
      action,
      (key_id === undefined ? texts : [key_id, ...texts]).join(', '),
    ];
  }),
  items: 'records',
});
