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

interface ComparedKey {
  readonly seller: Seller;
  readonly key: ApiKey;
  /** The items of its secrets by their hashes. */
  readonly secrets: ReadonlyMap<string, KeySecret>;
  readonly gatewayName: string;
}

const isSecretWrong = ({ seller, key, secrets }: ComparedKey): boolean =>
  key.secrets.some((secret) => {
    const { last_used_day: _, ...stored } = secrets.get(secret.hash) ?? {};
    return !isDeepStrictEqual(stored, keySecretOf(key, secret, seller.status));
  });

/** Returns the differences of one key from the state that the table wants of it. A pending key has no state but that of its issue. */
export const keyDifferences = (gateway: GatewaySide, compared: ComparedKey, nowMs: number): Difference[] => {
  const { seller, key, gatewayName } = compared;
  const found = gateway.keysByName.get(gatewayName);
  const [isPending, isActive] = [key.status === 'pending', key.status === 'active'];
  const registered = isActive ? found : undefined;
  const plans = PLAN_NAMES.filter((plan) => registered && gateway.members[plan].has(registered.id));
  const isOld = nowMs - Date.parse(key.created_at) >= ISSUE_GRACE_MS;
  const isWrong: Partial<Record<DifferenceKind, boolean | undefined>> = {
    issue_interrupted: isPending && isOld && key.restored_at === undefined,
    revoked_in_gateway: key.status === 'revoked' && found !== undefined,
    missing_in_gateway: isActive && found === undefined,
    usage_id_differs: registered && registered.value !== key.usage_id,
    gateway_id_differs: registered && registered.id !== key.gateway_key_id,
    without_plan: registered && plans.length === 0,
    wrong_plan: plans.some((plan) => plan !== key.plan),
    enabled_but_suspended: registered?.enabled && seller.status === 'suspended',
    disabled_but_active: registered && !registered.enabled && seller.status === 'active',
    secret_differs: !isPending && isSecretWrong(compared),
    not_flushed: !isPending && key.unflushed_since !== undefined,
  };
  const kinds = (Object.keys(isWrong) as DifferenceKind[]).filter((kind) => isWrong[kind]);
  return kinds.map((kind) => ({ kind, seller, key, gatewayKeyId: found?.id }));
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
