import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import type { Bundles } from '#lib/bundling.ts';
import { parseConfig } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { STAGES } from '#lib/stages.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';

/**
 * `npm run bench:cost` prints the cost of a stage per month when idle, counted from its templates, and the cost of a million requests of
 * each operation. The prices are list prices of us-east-1 in 2025 and 2026 without free tiers; look up those of your Region.
 */
const USD = {
  // Per month of 730 hours.
  kmsKey: 1,
  secret: 0.4,
  alarm: 0.1,
  dashboard: 3,
  natGateway: 0.045 * 730,
  publicAddress: 0.005 * 730,
  firewall: 5,
  firewallRule: 1,
  // Per million.
  restRequests: 3.5,
  lambdaRequests: 0.2,
  readUnits: 0.125,
  writeUnits: 0.625,
  kmsSignatures: 15,
  firewallRequests: 0.6,
  tracesRecorded: 5,
  // Per unit.
  lambdaGbSecondArm: 0.0000133334,
  logGb: 0.5,
  egressGb: 0.09,
  metricMonth: 0.3,
} as const;

/** The share of requests that X-Ray records, apart from the first one of each second. */
const TRACED = 0.05;

/** What one request uses: read and write units, billed time at 1 GB, log lines and response in kilobytes. */
interface Load {
  readonly reads: number;
  readonly writes: number;
  readonly ms: number;
  readonly logKb: number;
  readonly responseKb: number;
  readonly signatures?: number;
}

/**
 * The units follow from the calls of each operation: 1 for a strongly consistent read of an item up to 4 KB, 1 for a write up to 1 KB,
 * 2 for a write in a transaction. The times are assumed.
 */
const LOADS: Readonly<Record<string, Load>> = {
  // The seller and a page of 20 users; the rate limit.
  'GET /v1/users': { reads: 2, writes: 1, ms: 20, logKb: 2.2, responseKb: 5 },
  // A new link: person, buyer, check, two limits, the seller; three counts and five items in a transaction. It mostly waits for the registries.
  'POST /v1/users': { reads: 6, writes: 13, ms: 1500, logKb: 3.4, responseKb: 1 },
  // Two items of codes; two counts and both items in a transaction. It mostly waits for the SMS provider.
  'POST /v1/auth/otp/send': { reads: 2, writes: 6, ms: 700, logKb: 2.8, responseKb: 1 },
  'POST /v1/auth/otp/verify': { reads: 1, writes: 3, ms: 60, logKb: 2.2, responseKb: 1.5, signatures: 1 },
};

const costOfMillion = ({ reads, writes, ms, logKb, responseKb, signatures = 0 }: Load): number =>
  USD.restRequests +
  USD.lambdaRequests +
  (ms / 1000) * 1e6 * USD.lambdaGbSecondArm +
  reads * USD.readUnits +
  writes * USD.writeUnits +
  signatures * USD.kmsSignatures +
  logKb * USD.logGb +
  responseKb * USD.egressGb +
  TRACED * USD.tracesRecorded;

const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cost-'));
const bundles: Bundles = {
  sizes: {},
  folderOf(name) {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

/** The monthly cost of one resource of each type, used or not. The provider secret is added below, because it is created by hand. */
const IDLE = {
  'AWS::KMS::Key': USD.kmsKey,
  'AWS::SecretsManager::Secret': USD.secret,
  'AWS::CloudWatch::Alarm': USD.alarm,
  'AWS::CloudWatch::Dashboard': USD.dashboard,
  'AWS::EC2::NatGateway': USD.natGateway,
  'AWS::EC2::EIP': USD.publicAddress,
  'AWS::WAFv2::WebACL': USD.firewall + USD.firewallRule,
} as const;

const printIdleCost = (stage: keyof typeof STAGES): void => {
  const app = new App({ outdir: join(folder, stage) });
  const config = parseConfig(stage, STAGES[stage]);
  const { data, api } = addStage(app, config, { bundles, release: releaseOf() });
  const templates = [Template.fromStack(data), Template.fromStack(api)];
  const lines = Object.entries(IDLE).map(([type, price]) => {
    const found = templates.reduce(
      (sum, template) => sum + Object.keys(template.findResources(type)).length,
      0,
    );
    const count =
      found + (type === 'AWS::SecretsManager::Secret' && !isSandbox(config.providers.sms) ? 1 : 0);
    return {
      text: `${String(count).padStart(4)} × ${type.slice(5).replace('::', ' ')}`,
      cost: count * price,
    };
  });
  console.log(`\n${stage}, idle, USD per month`);
  for (const { text, cost } of lines.filter(({ cost: some }) => some > 0)) {
    console.log(`${text.padEnd(36)} ${cost.toFixed(2).padStart(7)}`);
  }
  const total = lines.reduce((sum, { cost }) => sum + cost, 0);
  console.log(`${'total'.padEnd(36)} ${total.toFixed(2).padStart(7)}`);
};

try {
  printIdleCost('dev');
  printIdleCost('prod');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log('\nper million requests, USD');
for (const [operation, load] of Object.entries(LOADS)) {
  console.log(`${operation.padEnd(36)} ${costOfMillion(load).toFixed(2).padStart(7)}`);
}
console.log(`${'in addition, with a firewall'.padEnd(36)} ${USD.firewallRequests.toFixed(2).padStart(7)}`);
console.log(
  `${'100 custom metrics, per month'.padEnd(36)} ${(100 * USD.metricMonth).toFixed(2).padStart(7)}`,
);
