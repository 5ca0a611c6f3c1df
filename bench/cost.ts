import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import type { Bundles } from '#lib/bundling.ts';
import { parseConfig } from '#lib/config.ts';
import { STAGES } from '#lib/stages.ts';

/**
 * `npm run bench:cost`: what a stage costs idle and by the million requests. Counted from the templates, at list prices of us-east-1
 * without free tiers. The prices are typed in from AWS's price pages as they stood in 2025 and 2026; look up those of your Region.
 */
const USD = {
  // A month of 730 hours.
  kmsKey: 1,
  secret: 0.4,
  alarm: 0.1,
  dashboard: 3,
  natGateway: 0.045 * 730,
  publicAddress: 0.005 * 730,
  firewall: 5,
  firewallRule: 1,
  // A million.
  restRequests: 3.5,
  lambdaRequests: 0.2,
  readUnits: 0.125,
  writeUnits: 0.625,
  kmsSignatures: 15,
  firewallRequests: 0.6,
  tracesRecorded: 5,
  // Each.
  lambdaGbSecondArm: 0.0000133334,
  logGb: 0.5,
  egressGb: 0.09,
  metricMonth: 0.3,
} as const;

/** The share of requests that X-Ray records beyond one a second. */
const TRACED = 0.05;

/** What one request takes: read and write units, billed time at 1 GB, log lines and answer in kilobytes. */
interface Load {
  readonly reads: number;
  readonly writes: number;
  readonly ms: number;
  readonly logKb: number;
  readonly answerKb: number;
  readonly signatures?: number;
}

/** Units follow from the access patterns in shared/table/keys.ts; the time is assumed. A transaction costs each write twice. */
const LOADS: Readonly<Record<string, Load>> = {
  // Seller 1, a page of 20 users (5 KB, strongly consistent) 2; the rate limiter.
  'GET /v1/users': { reads: 3, writes: 1, ms: 20, logKb: 2.2, answerKb: 5 },
  // Person, buyer, seller; seller, user and claim in a transaction, two rate limiters. Most of the time it waits for the registries.
  'POST /v1/users': { reads: 3, writes: 8, ms: 1500, logKb: 3.4, answerKb: 1 },
  // The code's record; the record, two rate limiters. It waits for the SMS provider.
  'POST /v1/auth/otp/send': { reads: 1, writes: 3, ms: 700, logKb: 2.8, answerKb: 1 },
  // Count, redeem, buyer, rate limiter; one signature.
  'POST /v1/auth/otp/verify': { reads: 0, writes: 4, ms: 60, logKb: 2.2, answerKb: 1.5, signatures: 1 },
};

const aMillion = ({ reads, writes, ms, logKb, answerKb, signatures = 0 }: Load): number =>
  USD.restRequests +
  USD.lambdaRequests +
  (ms / 1000) * 1e6 * USD.lambdaGbSecondArm +
  reads * USD.readUnits +
  writes * USD.writeUnits +
  signatures * USD.kmsSignatures +
  logKb * USD.logGb +
  answerKb * USD.egressGb +
  TRACED * USD.tracesRecorded;

const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cost-'));
const bundles: Bundles = {
  sizes: {},
  folderOf(name) {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

/** Type of resource -> what one of them costs a month, used or not. The provider secret is one more, made by hand. */
const IDLE = {
  'AWS::KMS::Key': USD.kmsKey,
  'AWS::SecretsManager::Secret': USD.secret,
  'AWS::CloudWatch::Alarm': USD.alarm,
  'AWS::CloudWatch::Dashboard': USD.dashboard,
  'AWS::EC2::NatGateway': USD.natGateway,
  'AWS::EC2::EIP': USD.publicAddress,
  'AWS::WAFv2::WebACL': USD.firewall + USD.firewallRule,
} as const;

const idle = (stage: keyof typeof STAGES): void => {
  const app = new App({ outdir: join(folder, stage) });
  const { data, api } = addStage(app, parseConfig(stage, STAGES[stage]), bundles);
  const templates = [Template.fromStack(data), Template.fromStack(api)];
  const lines = Object.entries(IDLE).map(([type, price]) => {
    const found = templates.reduce(
      (sum, template) => sum + Object.keys(template.findResources(type)).length,
      0,
    );
    const count = found + (type === 'AWS::SecretsManager::Secret' ? 1 : 0);
    return {
      text: `${String(count).padStart(4)} × ${type.slice(5).replace('::', ' ')}`,
      cost: count * price,
    };
  });
  console.log(`\n${stage}, idle, USD a month`);
  for (const { text, cost } of lines.filter(({ cost: some }) => some > 0)) {
    console.log(`${text.padEnd(36)} ${cost.toFixed(2).padStart(7)}`);
  }
  const total = lines.reduce((sum, { cost }) => sum + cost, 0);
  console.log(`${'together'.padEnd(36)} ${total.toFixed(2).padStart(7)}`);
};

try {
  idle('dev');
  idle('prod');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log('\na million requests, USD');
for (const [operation, load] of Object.entries(LOADS)) {
  console.log(`${operation.padEnd(36)} ${aMillion(load).toFixed(2).padStart(7)}`);
}
console.log(`${'more, behind a firewall'.padEnd(36)} ${USD.firewallRequests.toFixed(2).padStart(7)}`);
console.log(
  `${'100 custom metrics, a month in use'.padEnd(36)} ${(100 * USD.metricMonth).toFixed(2).padStart(7)}`,
);
