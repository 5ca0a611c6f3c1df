import { keyIdInGatewayName } from '#admin/administration.ts';
import { type ApiKey, keySecretOf } from '#admin/stores/api-key-schema.ts';
import type { Seller } from '#admin/stores/seller-schema.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';

/** Every way in which the table and API Gateway can differ, with what is wrong in words. */
export const DIFFERENCES = {
  issue_interrupted: 'Its issue was interrupted; nobody has seen its secret',
  missing_in_gateway: 'API Gateway does not hold the key',
  unknown_in_gateway: 'API Gateway holds a key that the table does not',
  revoked_in_gateway: 'API Gateway still holds the revoked key',
  gateway_id_differs: 'The table names another key of API Gateway',
  usage_id_differs: 'API Gateway knows the key by another usage id',
  without_plan: 'The key is in no usage plan',
  wrong_plan: 'The key is in another usage plan',
  stranger_in_plan: 'A usage plan holds a key that is not ours',
  enabled_but_suspended: 'The seller is suspended but the key is enabled in API Gateway',
  disabled_but_active: 'The seller is active but the key is disabled in API Gateway',
  secret_differs: 'A secret does not say what its key and seller say',
  not_flushed: 'A change was written but the authorizer cache not flushed after it',
} as const;

export type DifferenceKind = keyof typeof DIFFERENCES;

/** One difference, and whom it concerns. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly seller?: Seller;
  readonly key?: ApiKey;
  readonly gatewayKeyId?: string;
  /** Of `stranger_in_plan`: the plan. */
  readonly plan?: PlanName;
}

/** API Gateway's side, read before the table's: whatever it holds was in the table first. */
export interface GatewaySide {
  readonly keysByName: ReadonlyMap<string, GatewayKey>;
  readonly members: Readonly<Record<PlanName, ReadonlyMap<string, string>>>;
}

/** A key being issued is left alone for this long: whoever issues it is still at it. */
export const ISSUE_GRACE_MS = 120_000;

const plansOf = (gateway: GatewaySide, id: string): PlanName[] =>
  PLAN_NAMES.filter((plan) => gateway.members[plan].has(id));

const sameSecret = (stored: KeySecret | undefined, expected: KeySecret): boolean => {
  if (stored === undefined) return false;
  const { last_used_day: _, ...actual } = stored;
  const text = (secret: KeySecret) =>
    JSON.stringify(Object.entries(secret).sort(([a], [b]) => a.localeCompare(b)));
  return text(actual) === text(expected);
};

/** What API Gateway has wrong of an active key that it holds. */
const heldKeyKinds = (
  gateway: GatewaySide,
  seller: Seller,
  key: ApiKey,
  held: GatewayKey,
): DifferenceKind[] => {
  const plans = plansOf(gateway, held.id);
  const isWrong: Partial<Record<DifferenceKind, boolean>> = {
    usage_id_differs: held.value !== key.usage_id,
    gateway_id_differs: held.id !== key.gateway_key_id,
    without_plan: plans.length === 0,
    wrong_plan: plans.some((plan) => plan !== key.plan),
    enabled_but_suspended: held.enabled && seller.status === 'suspended',
    disabled_but_active: !held.enabled && seller.status === 'active',
  };
  return (Object.keys(isWrong) as DifferenceKind[]).filter((kind) => isWrong[kind]);
};

/** The differences of one key. `secrets`: the items of its secrets, by hash. */
export const keyDifferences = (
  gateway: GatewaySide,
  seller: Seller,
  key: ApiKey,
  secrets: ReadonlyMap<string, KeySecret>,
  gatewayName: string,
  nowMs: number,
): Difference[] => {
  const held = gateway.keysByName.get(gatewayName);
  const about = (kind: DifferenceKind): Difference => ({
    kind,
    seller,
    key,
    ...(held === undefined ? {} : { gatewayKeyId: held.id }),
  });
  if (key.status === 'pending') {
    return nowMs - Date.parse(key.created_at) < ISSUE_GRACE_MS ? [] : [about('issue_interrupted')];
  }
  const kinds: DifferenceKind[] = [];
  if (key.status === 'revoked' && held !== undefined) kinds.push('revoked_in_gateway');
  if (key.status === 'active' && held === undefined) kinds.push('missing_in_gateway');
  if (key.status === 'active' && held !== undefined) kinds.push(...heldKeyKinds(gateway, seller, key, held));
  const isSecretWrong = key.secrets.some(
    (secret) => !sameSecret(secrets.get(secret.hash), keySecretOf(key, secret, seller.status)),
  );
  if (isSecretWrong) kinds.push('secret_differs');
  if (key.unflushed_since !== undefined) kinds.push('not_flushed');
  return kinds.map(about);
};

/** What API Gateway holds beyond the table: keys named as ours that are none, and members of our plans that are not ours. */
export const strayDifferences = (
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
      .map(([id]): Difference => ({ kind: 'stranger_in_plan', gatewayKeyId: id, plan })),
  ),
];
