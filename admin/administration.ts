import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import { type Seller, sellerStore } from '#admin/stores/seller-store.ts';
import type { AuthorizerCache, UsagePlans } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { Clock } from '#shared/clock.ts';
import type { KeyPrefix } from '#shared/env.ts';
import type { Table } from '#shared/table/client.ts';
import { AdminError } from './admin-error.ts';

/** The deployment that is administered, and the person who does it. */
interface AdministrationOptions {
  readonly table: Table;
  readonly authorizerCache: AuthorizerCache;
  /** Undefined for a local service, which has none: there the service's own limiter alone limits a key. */
  readonly usagePlans: UsagePlans | undefined;
  readonly keyPrefix: KeyPrefix;
  /** The limits of a key on the registry's verdicts are higher then. */
  readonly registryIsSandbox: boolean;
  /** `local`, `prod`…: part of the names of API Gateway's keys, since other stages may share the account. */
  readonly stage: string;
  /** Who acts, for the audit: an AWS identity's ARN, or `local:<user>`. */
  readonly actor: string;
  readonly clock: Clock;
}

/** The prefix, `_` and 22 base62 characters (131 random bits). */
export const newId = (prefix: 'sel' | 'key'): string => `${prefix}_${randomBase62(22)}`;

/** The options and the stores. Every operation of this folder takes it as its first argument. */
export const administration = (options: AdministrationOptions) => {
  const now = (): string => new Date(options.clock()).toISOString();
  return {
    ...options,
    sellers: sellerStore(options.table),
    keys: apiKeyStore(options.table),
    audit: auditStore(options.table),
    now,
    gatewayKeyName: (keyId: string): string => `${gatewayKeyNamePrefix(options.stage)}${keyId}`,
    /** An audit record of the actor, at this moment. */
    record: (record: Omit<NewAuditRecord, 'at' | 'actor'>): NewAuditRecord => ({
      at: now(),
      actor: options.actor,
      ...record,
    }),
  };
};

export type Administration = ReturnType<typeof administration>;

/** The prefix of a stage's key names in API Gateway. */
export const gatewayKeyNamePrefix = (stage: string): string => `buyer-linking-${stage}-`;

/** Returns the key id in a name of API Gateway; undefined if the name belongs to another stage (`prod-eu` beside `prod`) or API. */
export const keyIdInGatewayName = (stage: string, name: string): string | undefined => {
  const prefix = gatewayKeyNamePrefix(stage);
  const rest = name.slice(prefix.length);
  return name.startsWith(prefix) && /^key_[0-9A-Za-z]+$/.test(rest) ? rest : undefined;
};

/** Returns the seller. Throws `seller_not_found` if there is none. */
export const requireSeller = async (admin: Administration, sellerId: string): Promise<Seller> => {
  const seller = await admin.sellers.find(sellerId);
  if (seller === undefined) throw new AdminError('seller_not_found', `There is no seller ${sellerId}.`);
  return seller;
};

/** Returns the key. Throws `key_not_found` if there is none. */
export const requireKey = async (
  admin: Administration,
  keyId: string,
  sellerId?: string,
): Promise<ApiKey> => {
  const key = await admin.keys.find(keyId, sellerId);
  if (key === undefined) throw new AdminError('key_not_found', `There is no key ${keyId}.`);
  return key;
};
