import { type Administration, gatewayKeyNamePrefix, keyIdInGatewayName } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import type { NewAuditRecord } from '#admin/stores/audit-store.ts';
import type { Seller } from '#admin/stores/seller-schema.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, type PlanName, planTable } from '#shared/rate-limits/plans.ts';
import { type Difference, type GatewaySide, keyDifferences, strayDifferences } from './differences.ts';
import { mend } from './repair.ts';

/** A difference and what became of it. */
export type Finding = Difference & { readonly isMended: boolean };

export interface Reconciliation {
  readonly sellers: number;
  readonly keys: number;
  /** Keys that somebody issues at this moment, or whose issue was interrupted so lately that it may still go on. */
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
  const differences = keys.flatMap((key) =>
    keyDifferences(gateway, seller, key, secrets, admin.gatewayKeyName(key.key_id), admin.clock()),
  );
  if (seller.unflushed_since !== undefined) differences.push({ kind: 'not_flushed', seller });
  return { keys, differences };
};

const recordOf = (admin: Administration, { kind, seller, key }: Difference): NewAuditRecord => ({
  at: admin.now(),
  actor: admin.actor,
  action: 'reconcile.mended',
  ...(seller === undefined ? {} : { seller_id: seller.seller_id }),
  ...(key === undefined ? {} : { key_id: key.key_id }),
  details: { difference: kind },
});

/**
 * Compares the table with API Gateway and, with `fix`, mends what differs. The table is the truth: the gateway is brought to it, and
 * what an interrupted operation left is finished or withdrawn. What changes while this runs is looked at again before it is touched.
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
    const its = await sellerDifferences(admin, gateway, seller);
    differences.push(...its.differences);
    for (const { key_id } of its.keys) names.add(admin.gatewayKeyName(key_id));
    pending += its.keys.filter(({ status }) => status === 'pending').length;
  }
  differences.push(...strayDifferences(gateway, admin.stage, names));

  const findings: Finding[] = [];
  for (const difference of differences) {
    const isMended = options.fix && (await mend(admin, difference));
    if (isMended) await admin.audit.write(recordOf(admin, difference));
    findings.push({ ...difference, isMended });
  }
  const interrupted = differences.filter(({ kind }) => kind === 'issue_interrupted').length;
  return { sellers, keys: names.size, beingIssued: pending - interrupted, findings };
};
