import { isDeepStrictEqual } from 'node:util';
import {
  type Administration,
  gatewayKeyNamePrefix,
  keyIdInGatewayName,
  requireSeller,
  step,
} from '#admin/administration.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { type ApiKey, type KeySecret, keySecretOf } from '#shared/api-keys/api-key-item.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { PLAN_NAMES, type PlanName, planTable } from '#shared/rate-limits/plans.ts';
import { moveToPlan } from './change-key.ts';
import { withdrawPendingKey } from './issue-key.ts';
import { findGatewayKey, removeGatewayKey } from './revoke-key.ts';
import { rewriteSecrets } from './set-seller-status.ts';

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

type DifferenceKind = keyof typeof DIFFERENCES;

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
interface GatewaySide {
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
const keyDifferences = (gateway: GatewaySide, compared: ComparedKey, nowMs: number): Difference[] => {
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
const gatewayOnlyDifferences = (
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

const recordFirst = (admin: Administration, record: NewAuditRecord): Promise<void> =>
  step(admin, 'repair: write the audit record', () => admin.audit.write(record));

/** Brings an active key in API Gateway to the state in the table. */
const bringToGateway = async (admin: Administration, key: ApiKey, record: NewAuditRecord): Promise<void> => {
  const { seller_id, key_id } = key;
  const { status } = await requireSeller(admin, seller_id);
  const name = admin.gatewayKeyName(key_id);
  const enabled = status === 'active';
  await recordFirst(admin, record);
  const present = await findGatewayKey(admin, key_id);
  if (present !== undefined && present.value !== key.usage_id) {
    await removeGatewayKey(admin, 'repair', present.id);
  }
  const { id } = await step(admin, 'repair: register with API Gateway', () =>
    admin.usagePlans.createKey({ name, value: key.usage_id, enabled }),
  );
  await moveToPlan(admin, 'repair', { gatewayKeyId: id, plan: key.plan });
  await step(admin, 'repair: enable or disable the key in API Gateway', () =>
    admin.usagePlans.setEnabled(id, enabled),
  );
  if (id === key.gateway_key_id) return;
  await step(admin, 'repair: store the id of API Gateway', () =>
    admin.keys.save({
      before: key,
      after: { ...key, gateway_key_id: id },
      sellerStatus: status,
      record: admin.record({ action: 'key.registered_again', seller_id, key_id }),
    }),
  );
};

/** Removes a key from API Gateway, with the audit record first. */
const unregister = async (
  admin: Administration,
  gatewayKeyId: string,
  record: NewAuditRecord,
): Promise<void> => {
  await recordFirst(admin, record);
  await removeGatewayKey(admin, 'repair', gatewayKeyId);
};

const flush = (admin: Administration): Promise<void> =>
  step(admin, 'repair: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());

/**
 * Brings a key, as it is now, to the state that the table wants of it. A change of the table writes `record` in the same transaction. A
 * change of API Gateway alone writes it first, so that every change has its record.
 */
const repairKey = async (
  admin: Administration,
  key: ApiKey,
  { kind, record }: { readonly kind: DifferenceKind; readonly record: NewAuditRecord },
): Promise<void> => {
  const { key_id, status, unflushed_since: since } = key;
  switch (kind) {
    case 'secret_differs':
      await step(admin, 'repair: write the secrets', () => rewriteSecrets(admin, key, record));
      return flush(admin);
    case 'not_flushed':
      await flush(admin);
      if (since !== undefined) await admin.keys.markFlushed(key, since, record);
      return;
    case 'issue_interrupted': {
      if (status !== 'pending') return;
      const registered = await findGatewayKey(admin, key_id);
      return withdrawPendingKey(admin, key, { registered, details: record.details });
    }
    case 'revoked_in_gateway': {
      const present = status === 'revoked' ? await findGatewayKey(admin, key_id) : undefined;
      if (present !== undefined) await unregister(admin, present.id, record);
      return;
    }
    default:
      if (status === 'active') await bringToGateway(admin, key, record);
  }
};

/** Deletes a key of API Gateway that the table does not have, unless it is gone or in the table by now. */
const removeUnknown = async (
  admin: Administration,
  gatewayKeyId: string,
  record: NewAuditRecord,
): Promise<void> => {
  for await (const { id, name } of admin.usagePlans.listKeys(gatewayKeyNamePrefix(admin.stage))) {
    if (id !== gatewayKeyId) continue;
    const keyId = keyIdInGatewayName(admin.stage, name);
    if (keyId === undefined || (await admin.keys.find(keyId)) !== undefined) return;
    return unregister(admin, id, record);
  }
};

const recordOf = (admin: Administration, { kind, seller, key }: Difference): NewAuditRecord =>
  admin.record({
    action: 'reconcile.repaired',
    seller_id: seller?.seller_id,
    key_id: key?.key_id,
    details: { difference: kind },
  });

/** Repairs one difference. True: it is gone, by this repair or by another change. */
export const repair = async (admin: Administration, difference: Difference): Promise<boolean> => {
  const { kind, key, seller, gatewayKeyId, plan } = difference;
  const record = recordOf(admin, difference);
  if (key !== undefined) {
    const current = await admin.keys.find(key.key_id);
    if (current !== undefined) await repairKey(admin, current, { kind, record });
    return true;
  }
  if (seller?.unflushed_since !== undefined) {
    await flush(admin);
    await admin.sellers.markFlushed(seller.seller_id, seller.unflushed_since, record);
    return true;
  }
  if (gatewayKeyId === undefined) return false;
  if (plan === undefined) {
    await removeUnknown(admin, gatewayKeyId, record);
  } else {
    await recordFirst(admin, record);
    await step(admin, 'repair: remove the foreign key from the plan', () =>
      admin.usagePlans.detach(gatewayKeyId, plan),
    );
  }
  return true;
};

/** A difference, and whether it was repaired. */
export type Finding = Difference & { readonly isRepaired: boolean };

const readGateway = async (admin: Administration): Promise<GatewaySide> => {
  const keysByName = new Map<string, GatewayKey>();
  for await (const key of admin.usagePlans.listKeys(gatewayKeyNamePrefix(admin.stage))) {
    if (keyIdInGatewayName(admin.stage, key.name) !== undefined) keysByName.set(key.name, key);
  }
  const members = planTable(() => new Map<string, string>());
  for (const plan of PLAN_NAMES) {
    for await (const { id, name } of admin.usagePlans.listMembers(plan)) members[plan].set(id, name);
  }
  return { keysByName, members };
};

/** Compares the keys of all sellers with API Gateway. `pending`: the number of pending keys, old and new. */
const compare = async (admin: Administration, gateway: GatewaySide) => {
  const sellers = await admin.sellers.list();
  const differences: Difference[] = [];
  const names = new Set<string>();
  let pending = 0;
  for (const seller of sellers) {
    const keys = await admin.keys.listOf(seller.seller_id);
    const secrets = await admin.keys.findSecrets(keys);
    for (const key of keys) {
      const gatewayName = admin.gatewayKeyName(key.key_id);
      names.add(gatewayName);
      if (key.status === 'pending' && key.restored_at === undefined) pending += 1;
      differences.push(...keyDifferences(gateway, { seller, key, secrets, gatewayName }, admin.clock()));
    }
    if (seller.unflushed_since !== undefined) differences.push({ kind: 'not_flushed', seller });
  }
  differences.push(...gatewayOnlyDifferences(gateway, admin.stage, names));
  return { sellers: sellers.length, keys: names.size, pending, differences };
};

/**
 * Compares the table with API Gateway and, with `fix`, repairs the differences. API Gateway is brought to the state of the table, and an
 * interrupted operation is completed or withdrawn. Each repair reads the key again first, since it may have changed. `beingIssued`:
 * pending keys younger than two minutes, whose issue is running or was interrupted just now.
 */
export const reconcile = async (admin: Administration, { fix }: { readonly fix: boolean }) => {
  // API Gateway first: every key is in the table before it is in API Gateway.
  const gateway = await readGateway(admin);
  const { sellers, keys, pending, differences } = await compare(admin, gateway);
  const findings: Finding[] = [];
  for (const difference of differences) {
    findings.push({ ...difference, isRepaired: fix && (await repair(admin, difference)) });
  }
  const interrupted = differences.filter(({ kind }) => kind === 'issue_interrupted').length;
  return { sellers, keys, beingIssued: pending - interrupted, findings };
};
