import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import { parseConfig } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { STAGES } from '#lib/stages.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { billedMs, costOfMillion, costOfMonth, IDLE_USD, USD } from './harness/prices.ts';
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

/** CloudWatch bills an alarm by the metrics that it evaluates; any other resource counts once. */
const unitsOf = ({ Metrics }: { readonly Metrics?: readonly object[] } = {}): number =>
  Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;

/** Returns the USD per month of each type of resource of an idle stage. */
const idleCosts = (stage: keyof typeof STAGES, folder: string): number[] => {
  const app = new App({ outdir: join(folder, stage) });
  const config = parseConfig(stage, STAGES[stage]);
  // The templates need a folder of each function, and not what is in it.
  const empty = join(folder, 'empty');
  mkdirSync(empty, { recursive: true });
  const bundles = { sizes: {}, folderOf: () => empty };
  const { data, api } = addStage(app, config, { bundles, release: releaseOf() });
  const templates = [Template.fromStack(data), Template.fromStack(api)];
  return Object.entries(IDLE_USD).map(([type, price]) => {
    const resources = templates.flatMap((template) => Object.values(template.findResources(type)));
    // The provider secret is created by hand.
    const byHand = type === 'AWS::SecretsManager::Secret' && !isSandbox(config.providers.sms) ? 1 : 0;
    return price * resources.reduce((sum, { Properties }) => sum + unitsOf(Properties), byHand);
  });
};

const idleTable = (): string[][] => {
  const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-cost-'));
  try {
    const stages = [idleCosts('dev', folder), idleCosts('prod', folder)];
    const total = (costs: readonly number[]) => costs.reduce((sum, cost) => sum + cost, 0);
    return [
      ['idle stage, USD per month', 'dev', 'prod'],
      ...Object.keys(IDLE_USD).map((type, index) => [
        type.slice(5).replace('::', ' '),
        ...stages.map((costs) => figure(costs[index] ?? 0, 2)),
      ]),
      ['total', ...stages.map((costs) => figure(total(costs), 2))],
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
