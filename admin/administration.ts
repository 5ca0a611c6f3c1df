import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import { auditStore } from '#admin/stores/audit-store.ts';
import type { Seller } from '#admin/stores/seller-schema.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import type { UsagePlans } from '#admin/usage-plans/port.ts';
import type { KeyPrefix } from '#shared/api-keys/format.ts';
import type { Clock } from '#shared/clock.ts';
import type { Ids } from '#shared/ids.ts';
import type { Table } from '#shared/table/client.ts';
import { refusal } from './operations/refusal.ts';

/** What the administration of one deployment works on, and for whom. */
export interface AdministrationOptions {
  readonly table: Table;
  readonly usagePlans: UsagePlans;
  readonly keyPrefix: KeyPrefix;
  /** `local`, `prod`…: API Gateway's keys are named after it, for other stages may share the account. */
  readonly stage: string;
  /** Who does it, for the audit: an AWS identity's ARN, or `local:<user>`. */
  readonly actor: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called before each step that writes. A test ends the operation here, as a crash would. */
  readonly beforeStep?: (step: string) => void | Promise<void>;
}

/** The same with its stores. Every operation of this folder takes it as its first argument. */
export const administration = (options: AdministrationOptions) => ({
  ...options,
  sellers: sellerStore(options.table),
  keys: apiKeyStore(options.table),
  audit: auditStore(options.table),
  gatewayKeyName: (keyId: string): string => `${gatewayKeyNamePrefix(options.stage)}${keyId}`,
  now: (): string => new Date(options.clock()).toISOString(),
});

export type Administration = ReturnType<typeof administration>;

/** How the names of a stage's keys in API Gateway begin. */
export const gatewayKeyNamePrefix = (stage: string): string => `buyer-linking-${stage}-`;

/** The key id in a name that a stage gave; undefined if it is another's, a stage `prod-eu` beside the stage `prod` say. */
export const keyIdInGatewayName = (stage: string, name: string): string | undefined => {
  const prefix = gatewayKeyNamePrefix(stage);
  const rest = name.slice(prefix.length);
  return name.startsWith(prefix) && /^key_[0-9A-Za-z]+$/.test(rest) ? rest : undefined;
};

/** Runs one step of an operation. Each is idempotent: whoever finishes an interrupted operation runs it again. */
export const step = async <T>(admin: Administration, name: string, run: () => Promise<T>): Promise<T> => {
  await admin.beforeStep?.(name);
  return run();
};

/** The seller, or a refusal that says there is none. */
export const requireSeller = async (admin: Administration, sellerId: string): Promise<Seller> => {
  const seller = await admin.sellers.find(sellerId);
  if (seller === undefined) throw refusal('seller_not_found', `There is no seller ${sellerId}.`);
  return seller;
};

/** The key, or a refusal that says there is none. */
export const requireKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const key = await admin.keys.find(keyId);
  if (key === undefined) throw refusal('key_not_found', `There is no key ${keyId}.`);
  return key;
};
