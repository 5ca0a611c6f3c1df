import { isDeepStrictEqual } from 'node:util';
import {
  type Administration,
  gatewayKeyNamePrefix,
  keyIdInGatewayName,
  requireSeller,
} from '#admin/administration.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { type ApiKey, type KeySecret, keySecretOf } from '#shared/api-keys/api-key-item.ts';
import { servedPlan } from '#shared/api-keys/known-values.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { withdrawPendingKey } from './issue-key.ts';
import {
  bringToGateway,
  findGatewayKey,
  flushAfterChange,
  removeGatewayKey,
  rewriteSecrets,
} from './key-state.ts';

/** Every way in which the table and API Gateway can differ, with its description. */
export const DIFFERENCES = {
  issue_interrupted: 'The issue of the key was interrupted. Its secret was never shown.',
  missing_in_gateway: 'The key is missing in API Gateway, or has another usage id there.',
  unknown_in_gateway: 'API Gateway has a key of this stage that is missing in the table.',
  revoked_in_gateway: 'The key is revoked, but still in API Gateway.',
  plan_differs: 'The key is in no usage plan, or in another one.',
  enabled_differs: 'The key is enabled in API Gateway, but its seller is suspended, or the other way round.',
  secret_differs: 'The item of a secret differs from its key or its seller.',
  not_flushed: 'The authorizer cache was not flushed after a change.',
} as const;

type DifferenceKind = keyof typeof DIFFERENCES;

/** One difference, and what it concerns. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly seller?: Seller;
  readonly key?: ApiKey;
  /** The key in API Gateway, and the plan that it is in. */
  readonly gatewayKey?: GatewayKey | undefined;
  readonly plan?: PlanName | undefined;
}

/** A pending key is ignored for this long: its issue may still be running. */
export const ISSUE_GRACE_MS = 120_000;

/** A key in the table, the items of its secrets by their hashes, and what API Gateway has of it. */
interface KeyState {
  readonly seller: Seller;
  readonly key: ApiKey;
  readonly secrets: ReadonlyMap<string, KeySecret>;
  readonly found: GatewayKey | undefined;
  readonly plan: PlanName | undefined;
  /** False for a local service: only the items of its secrets can differ then. */
  readonly hasUsagePlans: boolean;
}

const isSecretWrong = ({ seller, key, secrets }: KeyState): boolean =>
  key.secrets.some(
    (secret) => !isDeepStrictEqual(secrets.get(secret.hash), keySecretOf(key, secret, seller.status)),
  );

/** Returns how a key differs from the state that the table wants of it. A pending key has no state but that of its issue. */
const differencesOf = (state: KeyState, nowMs: number): Difference[] => {
  const { seller, key, found, plan, hasUsagePlans } = state;
  const [isPending, isActive] = [key.status === 'pending', key.status === 'active'];
  const registered = isActive && found?.value === key.usage_id ? found : undefined;
  const isOld = nowMs - Date.parse(key.created_at) >= ISSUE_GRACE_MS;
  const isWrong: Partial<Record<DifferenceKind, boolean | undefined>> = {
    issue_interrupted: isPending && isOld,
    revoked_in_gateway: key.status === 'revoked' && found !== undefined,
    missing_in_gateway: hasUsagePlans && isActive && registered === undefined,
    plan_differs: registered && plan !== key.plan && servedPlan(key.plan) === key.plan,
    enabled_differs: registered && registered.enabled !== (seller.status === 'active'),
    secret_differs: !isPending && isSecretWrong(state),
    not_flushed: !isPending && key.unflushed_since !== undefined,
  };
  const kinds = (Object.keys(isWrong) as DifferenceKind[]).filter((kind) => isWrong[kind]);
  return kinds.map((kind) => ({ kind, seller, key, gatewayKey: found, plan }));
};

const recordOf = (admin: Administration, { kind, seller, key }: Difference) =>
  admin.record({
    action: 'reconcile.repaired',
    seller_id: seller?.seller_id,
    key_id: key?.key_id,
    details: { difference: kind },
  });

/** Brings a key to the state that the table wants of it, if the difference is still there. The first write has the audit record. */
const repairKey = async (admin: Administration, keyId: string, difference: Difference): Promise<void> => {
  const { kind, plan } = difference;
  const key = await admin.keys.find(keyId);
  if (key === undefined) return;
  const seller = await requireSeller(admin, key.seller_id);
  const secrets = await admin.keys.findSecrets([key]);
  const found = await findGatewayKey(admin, keyId);
  const hasUsagePlans = admin.usagePlans !== undefined;
  const open = differencesOf({ seller, key, secrets, found, plan, hasUsagePlans }, admin.clock());
  if (!open.some((other) => other.kind === kind)) return;
  if (key.status === 'pending') {
    await withdrawPendingKey(admin, key, { difference: kind });
    return;
  }
  const repaired = await rewriteSecrets(admin, key, recordOf(admin, difference));
  await bringToGateway(admin, repaired);
  if (kind === 'secret_differs' || kind === 'not_flushed') await flushAfterChange(admin, repaired);
};

/**
 * Brings API Gateway to the state of the table, or finishes or withdraws an interrupted operation. Reads the key again first, since it may have
 * changed since the difference was found. A change of the table writes the audit record with it, one of API Gateway alone before it.
 */
export const repair = async (admin: Administration, difference: Difference): Promise<void> => {
  const { seller, key, gatewayKey } = difference;
  if (key !== undefined) return repairKey(admin, key.key_id, difference);
  const record = recordOf(admin, difference);
  if (seller !== undefined) return flushAfterChange(admin, seller, record);
  if (gatewayKey === undefined || admin.usagePlans === undefined) return;
  const keyId = keyIdInGatewayName(admin.stage, gatewayKey.name);
  if (keyId !== undefined && (await admin.keys.find(keyId)) !== undefined) return;
  await admin.audit.write(record);
  await removeGatewayKey(admin.usagePlans, gatewayKey.id);
};

/** Reads the keys of this stage in API Gateway by their names, and the plan of every key by its id. A local service has none. */
const readGateway = async ({ usagePlans, stage }: Administration) => {
  const keys = new Map<string, GatewayKey>();
  const planById = new Map<string, PlanName>();
  if (usagePlans === undefined) return { keys, planById };
  for await (const key of usagePlans.listKeys(gatewayKeyNamePrefix(stage))) {
    if (keyIdInGatewayName(stage, key.name) !== undefined) keys.set(key.name, key);
  }
  for (const plan of PLAN_NAMES) {
    for await (const { id } of usagePlans.listMembers(plan)) planById.set(id, plan);
  }
  return { keys, planById };
};

/**
 * Compares the secrets with their keys, and the table with API Gateway. Returns the numbers of sellers and keys, and the differences.
 * `beingIssued`: pending keys younger than two minutes, whose issue is running or was interrupted.
 */
export const findDifferences = async (admin: Administration) => {
  // API Gateway first: every key is in the table before it is in API Gateway.
  const { keys: unknown, planById } = await readGateway(admin);
  const sellers = await admin.sellers.list();
  const differences: Difference[] = [];
  let [count, beingIssued] = [0, 0];
  for (const seller of sellers) {
    const keys = await admin.keys.listOf(seller.seller_id);
    const secrets = await admin.keys.findSecrets(keys);
    for (const key of keys) {
      const name = admin.gatewayKeyName(key.key_id);
      const found = unknown.get(name);
      unknown.delete(name);
      const plan = planById.get(found?.id ?? '');
      const state = { seller, key, secrets, found, plan, hasUsagePlans: admin.usagePlans !== undefined };
      const differing = differencesOf(state, admin.clock());
      differences.push(...differing);
      if (key.status === 'pending' && differing.length === 0) beingIssued += 1;
    }
    count += keys.length;
    if (seller.unflushed_since !== undefined) differences.push({ kind: 'not_flushed', seller });
  }
  for (const gatewayKey of unknown.values()) differences.push({ kind: 'unknown_in_gateway', gatewayKey });
  return { sellers: sellers.length, keys: count, beingIssued, differences };
};
