import { isDeepStrictEqual } from 'node:util';
import { keyIdInGatewayName } from '#admin/administration.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { type ApiKey, type KeySecret, keySecretOf } from '#shared/api-keys/api-key-item.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';

/** Every way in which the table and API Gateway can differ, with its description. */
export const DIFFERENCES = {
  issue_interrupted: 'The issue of the key was interrupted. Its secret was never shown.',
  missing_in_gateway: 'The key is missing in API Gateway.',
  unknown_in_gateway: 'API Gateway has a key of this stage that is missing in the table.',
  revoked_in_gateway: 'The key is revoked, but still in API Gateway.',
  gateway_id_differs: 'The table has another API Gateway id of the key.',
  usage_id_differs: 'API Gateway has another usage id of the key.',
  without_plan: 'The key is in no usage plan.',
  wrong_plan: 'The key is in another usage plan.',
  foreign_key_in_plan: 'A usage plan contains a key of another service.',
  enabled_but_suspended: 'The seller is suspended, but the key is enabled in API Gateway.',
  disabled_but_active: 'The seller is active, but the key is disabled in API Gateway.',
  secret_differs: 'The item of a secret differs from its key or its seller.',
  not_flushed: 'The authorizer cache was not flushed after a change.',
} as const;

/** The kind of a difference: a key of `DIFFERENCES`. */
export type DifferenceKind = keyof typeof DIFFERENCES;

/** One difference, and what it concerns. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly seller?: Seller;
  readonly key?: ApiKey;
  readonly gatewayKeyId?: string | undefined;
  /** The usage plan; only of `foreign_key_in_plan`. */
  readonly plan?: PlanName;
}

/** The state of API Gateway. */
export interface GatewaySide {
  readonly keysByName: ReadonlyMap<string, GatewayKey>;
  /** For each plan, the names of its keys by their ids. */
  readonly members: Readonly<Record<PlanName, ReadonlyMap<string, string>>>;
}

/** A pending key is ignored for this long: its issue may still be running. */
export const ISSUE_GRACE_MS = 120_000;

const sameSecret = (stored: KeySecret | undefined, expected: KeySecret): boolean => {
  if (stored === undefined) return false;
  const { last_used_day: _, ...actual } = stored;
  return isDeepStrictEqual(actual, expected);
};

/** The differences of an active key that is in API Gateway. */
const registeredKeyKinds = (
  gateway: GatewaySide,
  seller: Seller,
  key: ApiKey,
  registered: GatewayKey,
): DifferenceKind[] => {
  const plans = PLAN_NAMES.filter((plan) => gateway.members[plan].has(registered.id));
  const isWrong: Partial<Record<DifferenceKind, boolean>> = {
    usage_id_differs: registered.value !== key.usage_id,
    gateway_id_differs: registered.id !== key.gateway_key_id,
    without_plan: plans.length === 0,
    wrong_plan: plans.some((plan) => plan !== key.plan),
    enabled_but_suspended: registered.enabled && seller.status === 'suspended',
    disabled_but_active: !registered.enabled && seller.status === 'active',
  };
  return (Object.keys(isWrong) as DifferenceKind[]).filter((kind) => isWrong[kind]);
};

interface ComparedKey {
  readonly seller: Seller;
  readonly key: ApiKey;
  /** The items of its secrets by their hashes. */
  readonly secrets: ReadonlyMap<string, KeySecret>;
  readonly gatewayName: string;
}

/** Returns the differences of one key. */
export const keyDifferences = (
  gateway: GatewaySide,
  { seller, key, secrets, gatewayName }: ComparedKey,
  nowMs: number,
): Difference[] => {
  const registered = gateway.keysByName.get(gatewayName);
  const about = (kind: DifferenceKind): Difference => ({ kind, seller, key, gatewayKeyId: registered?.id });
  if (key.restored_at !== undefined) return [];
  if (key.status === 'pending') {
    return nowMs - Date.parse(key.created_at) < ISSUE_GRACE_MS ? [] : [about('issue_interrupted')];
  }
  const kinds: DifferenceKind[] = [];
  if (key.status === 'revoked' && registered !== undefined) kinds.push('revoked_in_gateway');
  if (key.status === 'active' && registered === undefined) kinds.push('missing_in_gateway');
  if (key.status === 'active' && registered !== undefined) {
    kinds.push(...registeredKeyKinds(gateway, seller, key, registered));
  }
  const isSecretWrong = key.secrets.some(
    (secret) => !sameSecret(secrets.get(secret.hash), keySecretOf(key, secret, seller.status)),
  );
  if (isSecretWrong) kinds.push('secret_differs');
  if (key.unflushed_since !== undefined) kinds.push('not_flushed');
  return kinds.map(about);
};

/** Returns what only API Gateway has: keys with a name of this stage that the table does not have, and keys of others in our plans. */
export const gatewayOnlyDifferences = (
  gateway: GatewaySide,
  stage: string,
  knownNames: ReadonlySet<string>,
): Difference[] => [
  ...[...gateway.keysByName.values()]
    .filter(({ name }) => !knownNames.has(name))
    .map(({ id }): Difference => ({ kind: 'unknown_in_gateway', gatewayKeyId: id })),
  ...PLAN_NAMES.flatMap((plan) =>
    [...gateway.members[plan]]
      .filter(([, name]) => keyIdInGatewayName(stage, name) === undefined)
      .map(([id]): Difference => ({ kind: 'foreign_key_in_plan', gatewayKeyId: id, plan })),
  ),
];
