import { type Administration, gatewayKeyNamePrefix, keyIdInGatewayName } from '#admin/administration.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { PLAN_NAMES, planTable } from '#shared/rate-limits/plans.ts';
import { type Difference, type GatewaySide, gatewayOnlyDifferences, keyDifferences } from './differences.ts';
import { repair } from './repair.ts';

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
