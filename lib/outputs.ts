/** The names of stacks, alarms and outputs. The admin CLI, the deploy test and docs/operators/operations.md read these and no others. */

const SERVICE = 'buyer-linking';

export const dataStackName = (stage: string): string => `${SERVICE}-${stage}-data`;

export const apiStackName = (stage: string): string => `${SERVICE}-${stage}-api`;

export const alarmNamePrefix = (stage: string): string => `${SERVICE}-${stage}-`;

/** The outputs of the API stack. `CanarySecretArn`, `DashboardName` and `AlarmTopicArn` exist only with `alarms`, `EgressAddress` only with `staticEgress`, `DomainTarget` only with `domain`. */
export const OUTPUTS = {
  apiId: 'ApiId',
  stageName: 'StageName',
  baseUrl: 'BaseUrl',
  tableName: 'TableName',
  hashSecretArn: 'HashSecretArn',
  canarySecretArn: 'CanarySecretArn',
  keyPrefix: 'KeyPrefix',
  /** The names of the providers of both ports, separated by commas. */
  providers: 'Providers',
  version: 'Version',
  commit: 'Commit',
  dashboardName: 'DashboardName',
  alarmTopicArn: 'AlarmTopicArn',
  /** The addresses, separated by commas. */
  egressAddress: 'EgressAddress',
  domainTarget: 'DomainTarget',
} as const;

/** Returns the name of the output that holds the usage plan id of a plan: `UsagePlanFreeId` for `free`. */
export const usagePlanOutput = (plan: string): string =>
  `UsagePlan${plan.charAt(0).toUpperCase()}${plan.slice(1)}Id`;
