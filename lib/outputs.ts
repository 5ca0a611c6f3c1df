/** The names by which the stacks are found from outside: the admin CLI, the deploy test and the runbook read these and no others. */

const SERVICE = 'buyer-linking';

export const dataStackName = (stage: string): string => `${SERVICE}-${stage}-data`;

export const apiStackName = (stage: string): string => `${SERVICE}-${stage}-api`;

/** The outputs of the API stack. `EgressAddress` and `DomainTarget` are there only where the config asks for what they name. */
export const OUTPUTS = {
  apiId: 'ApiId',
  stageName: 'StageName',
  baseUrl: 'BaseUrl',
  tableName: 'TableName',
  usagePlanFreeId: 'UsagePlanFreeId',
  usagePlanProfessionalId: 'UsagePlanProfessionalId',
  hashSecretArn: 'HashSecretArn',
  keyPrefix: 'KeyPrefix',
  egressAddress: 'EgressAddress',
  domainTarget: 'DomainTarget',
} as const;

/** The output that holds the id of a plan's usage plan: `free` -> `UsagePlanFreeId`. */
export const usagePlanOutput = (plan: string): string =>
  `UsagePlan${plan.charAt(0).toUpperCase()}${plan.slice(1)}Id`;
