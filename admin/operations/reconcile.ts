import { type Administration, gatewayKeyNamePrefix, keyIdInGatewayName } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, type PlanName, planTable } from '#shared/rate-limits/plans.ts';
import { type Difference, type GatewaySide, gatewayOnlyDifferences, keyDifferences } from './differences.ts';
import { repair } from './repair.ts';

/** A difference, and whether it was repaired. */
export type Finding = Difference & { readonly isRepaired: boolean };

/** The result of a comparison of the table with API Gateway. */
export interface Reconciliation {
  readonly sellers: number;
  readonly keys: number;
  /** Pending keys younger than two minutes: their issue is running, or was interrupted just now. */
  readonly beingIssued: number;
  readonly findings: readonly Finding[];
}

const membersOf = async (admin: Administration, plan: PlanName): Promise<Map<string, string>> => {
  const members = new Map<string, string>();
  for await (const { id, name } of admin.usagePlans.listMembers(plan)) members.set(id, name);
  return members;
};

const readGateway = async (admin: Administration): Promise<GatewaySide> => {
  const keysByName = new Map<string, GatewayKey>();
  for await (const key of admin.usagePlans.listKeys(gatewayKeyNamePrefix(admin.stage))) {
    if (keyIdInGatewayName(admin.stage, key.name) !== undefined) keysByName.set(key.name, key);
  }
  const members = new Map<PlanName, Map<string, string>>();
  for (const plan of PLAN_NAMES) members.set(plan, await membersOf(admin, plan));
  return { keysByName, members: planTable((plan) => members.get(plan) ?? new Map()) };
};

const sellerDifferences = async (
  admin: Administration,
  gateway: GatewaySide,
  seller: Seller,
): Promise<{ keys: readonly ApiKey[]; differences: Difference[] }> => {
  const keys = await admin.keys.listOf(seller.seller_id);
  const secrets = await admin.keys.findSecrets(keys.flatMap((key) => key.secrets.map(({ hash }) => hash)));
  const differences = keys.flatMap((key) => {
    const gatewayName = admin.gatewayKeyName(key.key_id);
    return keyDifferences(gateway, { seller, key, secrets, gatewayName }, admin.clock());
  });
  if (seller.unflushed_since !== undefined) differences.push({ kind: 'not_flushed', seller });
  return { keys, differences };
};

/**
 * Compares the table with API Gateway and, with `fix`, repairs the differences. API Gateway is brought to the state of the table, and an
 * interrupted operation is completed or withdrawn. Each repair reads the key again first, since it may have changed.
 */
export const reconcile = async (
  admin: Administration,
  options: { readonly fix: boolean },
): Promise<Reconciliation> => {
  const gateway = await readGateway(admin);
  const differences: Difference[] = [];
  const names = new Set<string>();
  let sellers = 0;
  let pending = 0;
  for await (const seller of admin.sellers.list()) {
    sellers += 1;
    const found = await sellerDifferences(admin, gateway, seller);
    differences.push(...found.differences);
    for (const { key_id } of found.keys) names.add(admin.gatewayKeyName(key_id));
    pending += found.keys.filter(({ status }) => status === 'pending').length;
  }
  differences.push(...gatewayOnlyDifferences(gateway, admin.stage, names));

  const findings: Finding[] = [];
  for (const difference of differences) {
    const isRepaired = options.fix && (await repair(admin, difference));
    findings.push({ ...difference, isRepaired });
  }
  const interrupted = differences.filter(({ kind }) => kind === 'issue_interrupted').length;
  return { sellers, keys: names.size, beingIssued: pending - interrupted, findings };
};
