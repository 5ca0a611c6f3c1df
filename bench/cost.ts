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
import { billedMs, costOfMillion, costOfMonth, USD } from './harness/prices.ts';
import { recordOperations } from './harness/recording.ts';
import { figure, ratio, report } from './harness/report.ts';
import { usageOf } from './harness/usage.ts';

/**
 * `npm run bench:cost` prints what the requests of each operation cost, from their measured calls, capacity, log lines and responses, and
 * what an idle stage costs per month, counted from its templates.
 */

/** Assumed: the time that an operation waits for its providers, in milliseconds. */
const PROVIDER_MS: Readonly<Record<string, number>> = { 'create-user': 1500, 'send-otp': 700 };
const REQUESTS_PER_SECOND = [1, 100, 10_000] as const;

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

/** CloudWatch bills an alarm by the metrics that it evaluates; any other resource counts once. */
const unitsOf = ({
  Properties = {},
}: {
  readonly Properties?: { readonly Metrics?: readonly object[] };
}): number => Properties.Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;

/** Returns the USD per month of each type of resource of an idle stage. */
const idleCosts = (stage: keyof typeof STAGES, folder: string): number[] => {
  const bundles: Bundles = {
    sizes: {},
    folderOf(name) {
      mkdirSync(join(folder, name), { recursive: true });
      return join(folder, name);
    },
  };
  const app = new App({ outdir: join(folder, stage) });
  const config = parseConfig(stage, STAGES[stage]);
  const { data, api } = addStage(app, config, { bundles, release: releaseOf() });
  const templates = [Template.fromStack(data), Template.fromStack(api)];
  return Object.entries(IDLE).map(([type, price]) => {
    const inTemplates = templates.flatMap((template) =>
      Object.values(template.findResources(type)).map(unitsOf),
    );
    const byHand = type === 'AWS::SecretsManager::Secret' && !isSandbox(config.providers.sms) ? 1 : 0;
    return price * inTemplates.reduce((sum, units) => sum + units, byHand);
  });
};

const idleTable = (): string[][] => {
  const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cost-'));
  try {
    const [dev, prod] = [idleCosts('dev', folder), idleCosts('prod', folder)];
    const total = (costs: readonly number[]) => costs.reduce((sum, cost) => sum + cost, 0);
    return [
      ['idle stage, USD per month', 'dev', 'prod'],
      ...Object.keys(IDLE).map((type, index) => [
        type.slice(5).replace('::', ' '),
        ...[dev, prod].map((costs) => figure(costs[index] ?? 0, 2)),
      ]),
      ['total', figure(total(dev), 2), figure(total(prod), 2)],
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const requests = (await recordOperations())
  .filter(({ later }) => later.calls.length > 0)
  .map(({ operation: { title, name }, later }) => {
    const usage = usageOf(later);
    const providerMs = PROVIDER_MS[name] ?? 0;
    // The authorizer runs within a request that another row counts.
    const gatewayUsd = name === 'authorizer' ? 0 : USD.restRequests;
    const usd = costOfMillion(usage, providerMs) + gatewayUsd;
    return { title, ms: billedMs(usage, providerMs), usd };
  });
const listUsd = requests.find(({ title }) => title === 'GET /v1/users')?.usd ?? 0;

report(
  'cost',
  'List prices of us-east-1 without free tiers. A request of a key that is not in the cache of API Gateway pays for the authorizer too.',
  [
    [
      'operation',
      'billed ms',
      'USD per million',
      ...REQUESTS_PER_SECOND.map((rate) => `USD per month at ${figure(rate)}/s`),
      '× list',
    ],
    ...requests.map(({ title, ms, usd }) => [
      title,
      figure(ms),
      figure(usd, 2),
      ...REQUESTS_PER_SECOND.map((rate) => figure(costOfMonth(usd, rate))),
      ratio(usd, listUsd),
    ]),
  ],
  idleTable(),
);
