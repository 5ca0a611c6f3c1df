import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import { parseConfig } from '#lib/config.ts';
import { releaseOf } from '#lib/release.ts';
import { STAGES } from '#lib/stages.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';

const HOURS_PER_MONTH = 730;

/** The USD per month of a resource of each type, used or not: list prices of us-east-1 in 2025 and 2026. */
const IDLE_USD = {
  'AWS::KMS::Key': 1,
  'AWS::SecretsManager::Secret': 0.4,
  'AWS::CloudWatch::Alarm': 0.1,
  'AWS::CloudWatch::Dashboard': 3,
  'AWS::EC2::NatGateway': 0.045 * HOURS_PER_MONTH,
  'AWS::EC2::EIP': 0.005 * HOURS_PER_MONTH,
  // With its two rules.
  'AWS::WAFv2::WebACL': 5 + 2,
} as const;

/** What prod must set, and costs. */
const PROD = {
  alarms: { email: 'on-call@example.com' },
  spend: { paidChecksPerDay: 5000, smsPerDay: 10_000 },
} as const;

type ResourceType = keyof typeof IDLE_USD;

/** CloudWatch bills an alarm by the metrics that it evaluates; any other resource counts once. */
const unitsOf = ({ Metrics }: { readonly Metrics?: readonly object[] } = {}): number =>
  Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;

/** Returns the USD per month of an idle stage by type of resource, counted from its templates. `folder`: an empty one for the templates. */
export const idleCosts = (stage: keyof typeof STAGES, folder: string): Record<ResourceType, number> => {
  const app = new App({ outdir: join(folder, stage) });
  const config = parseConfig(stage, { ...STAGES[stage], ...(stage === 'prod' && PROD) });
  // The templates need a folder of each function, and not what is in it.
  const bundles = { folderOf: () => import.meta.dirname };
  const { data, api } = addStage(app, config, { bundles, release: releaseOf() });
  const templates = [Template.fromStack(data), Template.fromStack(api)];
  const costs = Object.entries(IDLE_USD).map(([type, price]) => {
    const resources = templates.flatMap((template) => Object.values(template.findResources(type)));
    // The provider secret is created by hand.
    const byHand = type === 'AWS::SecretsManager::Secret' && !isSandbox(config.providers.sms) ? 1 : 0;
    return [type, price * resources.reduce((sum, { Properties }) => sum + unitsOf(Properties), byHand)];
  });
  return Object.fromEntries(costs);
};
