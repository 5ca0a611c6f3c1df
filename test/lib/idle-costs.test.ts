import { readFileSync } from 'node:fs';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { COMPLETE, resourcesOf, stageConfig, templatesOf } from './synthesized.ts';

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

type ResourceType = keyof typeof IDLE_USD;

const STAGES = [
  ['dev', {}],
  ['prod', COMPLETE],
] as const;

/** CloudWatch bills an alarm by the metrics that it evaluates; any other resource counts once. */
const unitsOf = ({ Metrics }: { readonly Metrics?: readonly object[] } = {}): number =>
  Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;

/** Returns the USD per month of the resources of a type in an idle stage, counted from its templates. */
const idleUsd = ([stage, changes]: (typeof STAGES)[number], type: ResourceType): number => {
  const { data, api } = templatesOf(stage, changes);
  const resources = [data, api].flatMap((template) => Object.values(resourcesOf(template, type)));
  // The provider secret is created by hand.
  const isByHand = type === 'AWS::SecretsManager::Secret' && !isSandbox(stageConfig(stage).providers.sms);
  return (
    IDLE_USD[type] * resources.reduce((sum, { Properties }) => sum + unitsOf(Properties), isByHand ? 1 : 0)
  );
};

/** In whole dollars, so that one more operation changes nothing. */
const rowOf = (name: string, ...types: readonly ResourceType[]): string => {
  const sums = STAGES.map((stage) => types.reduce((sum, type) => sum + idleUsd(stage, type), 0));
  return `| ${[name, ...sums.map((sum) => (sum === 0 ? '–' : sum.toFixed(0)))].join(' | ')} |`;
};

test('the costs of idle stages that docs/operators/deploy.md names are those of their templates', () => {
  expect(readFileSync(new URL('../../docs/operators/deploy.md', import.meta.url), 'utf8')).toContain(
    [
      rowOf('total', ...(Object.keys(IDLE_USD) as ResourceType[])),
      rowOf('alarms, dashboard', 'AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard'),
      rowOf('signing key, secrets', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'),
      rowOf('NAT gateway and its address', 'AWS::EC2::NatGateway', 'AWS::EC2::EIP'),
      rowOf('firewall', 'AWS::WAFv2::WebACL'),
    ].join('\n'),
  );
});
