import { type App, ArnFormat, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AUTHORIZER_PERMISSIONS } from '#shared/api-keys/authorizer-permissions.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { permissionsOf, type Route } from '#shared/route.ts';
import { ALARM_PERIOD, alarmActions, alarmMaker } from './alarms.ts';
import { ApiFunction, type FunctionDefaults } from './api-function.ts';
import type { Bundles } from './bundling.ts';
import { addCanary } from './canary.ts';
import type { Config } from './config.ts';
import { addDashboard } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { addFirewall } from './firewall.ts';
import {
  AUTHORIZER_VARIABLES,
  callsProviders,
  type DeployedVariable,
  variablesOf,
} from './function-variables.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { authorizerGrants, grantsOf, type Resources } from './grants.ts';
import { loggedMetrics, metricNamespaceOf } from './metrics.ts';
import { apiStackName, OUTPUTS, usagePlanOutput } from './outputs.ts';
import { addMethods, defaultUrlOf, restApi } from './rest-api.ts';
import { addServiceAlarms } from './service-alarms.ts';
import { type StaticEgress, staticEgress } from './static-egress.ts';
import { addUsagePlans } from './usage-plans.ts';

interface FunctionKind
  extends Pick<Route, 'permissions' | 'memoryMb' | 'timeoutSeconds' | 'impact' | 'description'> {
  readonly variables: readonly DeployedVariable[];
  readonly grantsOn: (resources: Resources) => readonly PolicyStatement[];
}

/** The authorizer stands in no row of the route table. */
const AUTHORIZER: FunctionKind = {
  description: 'Judges API keys',
  permissions: AUTHORIZER_PERMISSIONS,
  variables: AUTHORIZER_VARIABLES,
  grantsOn: authorizerGrants,
  memoryMb: 1024,
  timeoutSeconds: 5,
  impact: 'Nobody with a key can call anything.',
};

interface ServiceParts {
  readonly config: Config;
  readonly bundles: Bundles;
  readonly data: DataStack;
  readonly defaults: FunctionDefaults;
  readonly egress: StaticEgress | undefined;
  readonly baseUrl: string;
}

/** The value of every variable in this stage; a function gets those of them that its row needs. */
const environmentOf = ({
  config,
  data,
  baseUrl,
}: ServiceParts): Readonly<Partial<Record<DeployedVariable, string>>> => ({
  TABLE_NAME: data.table.tableName,
  HASH_SECRET: data.hashSecret.secretArn,
  PROVIDER_SECRET: config.providers.secretName,
  IDENTITY_PROVIDERS: config.providers.identityRegistry.join(','),
  SMS_PROVIDERS: config.providers.sms.join(','),
  SIGNING_KEYS: data.signingKeys.map((key) => key.keyId).join(','),
  TOKEN_ISSUER: baseUrl,
  KEY_PREFIX: config.keyPrefix,
  OTP_ACCESS: config.otpAccess,
  METRIC_NAMESPACE: metricNamespaceOf(config.stage),
});

/** What runs the service: a function a row of the route table, the API before them, and what watches over both. */
export class ApiStack extends Stack {
  constructor(
    app: App,
    {
      config,
      bundles,
      data,
    }: { readonly config: Config; readonly bundles: Bundles; readonly data: DataStack },
  ) {
    const name = apiStackName(config.stage);
    super(app, name, {
      description: `Buyer Linking (${config.stage}): API, functions, alarms`,
      terminationProtection: config.removal === 'retain',
    });
    const removalPolicy = config.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const api = restApi(this, name, config, removalPolicy);
    const baseUrl = this.baseUrlOf(api, config);
    const egress = config.staticEgress ? staticEgress(this, config.logRetentionDays) : undefined;
    const defaults: FunctionDefaults = {
      logRetentionDays: config.logRetentionDays,
      removalPolicy,
      makeAlarm: alarmMaker(config.stage, alarmActions(this, config)),
      metrics: loggedMetrics(config.stage),
    };
    const makeFunction = this.functionMaker({ config, bundles, data, defaults, egress, baseUrl });

    addMethods(api, {
      config,
      authorizer: makeFunction('authorizer', AUTHORIZER).lambda,
      functionOf: (route) =>
        makeFunction(route.name, {
          ...route,
          description: `${route.method} ${route.path}`,
          variables: variablesOf(route),
          grantsOn: (resources) => grantsOf(permissionsOf(route), resources),
        }).lambda,
    });
    addGatewayResponses(api);
    const plans = addUsagePlans(this, { api, stage: api.deploymentStage, name });
    if (config.firewall) addFirewall(this, api.deploymentStage, config.firewall.requestsPerAddress);
    if (config.canary) addCanary(this, { ...defaults, codeFolder: bundles.folderOf('canary'), baseUrl });

    this.watch(config, { api, data, defaults });
    this.publish({
      [OUTPUTS.apiId]: api.restApiId,
      [OUTPUTS.stageName]: config.stage,
      [OUTPUTS.baseUrl]: baseUrl,
      [OUTPUTS.tableName]: data.table.tableName,
      [OUTPUTS.hashSecretArn]: data.hashSecret.secretArn,
      [OUTPUTS.keyPrefix]: config.keyPrefix,
      ...Object.fromEntries(PLAN_NAMES.map((plan) => [usagePlanOutput(plan), plans[plan].usagePlanId])),
      ...(egress && { [OUTPUTS.egressAddress]: egress.address }),
      ...(api.domainName && { [OUTPUTS.domainTarget]: api.domainName.domainNameAliasDomainName }),
    });
  }

  /** The alarms of the service as a whole, and the dashboard, which shows those of the functions too. */
  private watch(
    config: Config,
    {
      api,
      data,
      defaults: { makeAlarm, metrics },
    }: { readonly api: RestApi; readonly data: DataStack; readonly defaults: FunctionDefaults },
  ): void {
    addServiceAlarms(this, {
      config,
      makeAlarm,
      metrics,
      serverErrors: api.metricServerError({ period: ALARM_PERIOD, statistic: 'Sum' }),
      latency: api.metricLatency({ period: ALARM_PERIOD, statistic: 'p99' }),
    });
    const alarms = this.node.findAll().filter((construct): construct is Alarm => construct instanceof Alarm);
    addDashboard(this, { name: this.stackName, api, table: data.table, alarms, metrics });
  }

  /** The address that callers use: the domain of the config, or what API Gateway gives. */
  private baseUrlOf(api: RestApi, { domain, stage }: Config): string {
    if (domain === null) return defaultUrlOf(api, stage);
    api.addDomainName('Domain', {
      domainName: domain.name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    return `https://${domain.name}`;
  }

  private functionMaker(service: ServiceParts) {
    const { config, bundles, data, defaults, egress } = service;
    const providerSecretArn = this.formatArn({
      service: 'secretsmanager',
      resource: 'secret',
      // Secrets Manager adds a hyphen and six characters to the name; nobody knows them before the secret is made.
      resourceName: `${config.providers.secretName}-??????`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const resources: Resources = {
      tableArn: data.table.tableArn,
      hashSecretArn: data.hashSecret.secretArn,
      providerSecretArn,
      signingKeyArns: data.signingKeys.map((key) => key.keyArn) as [string, ...string[]],
    };
    const values = environmentOf(service);
    return (name: string, kind: FunctionKind): ApiFunction =>
      new ApiFunction(this, name, {
        ...defaults,
        name,
        codeFolder: bundles.folderOf(name),
        description: kind.description,
        memoryMb: kind.memoryMb,
        timeoutSeconds: kind.timeoutSeconds,
        impact: kind.impact,
        environment: Object.fromEntries(kind.variables.map((variable) => [variable, values[variable] ?? ''])),
        grants: kind.grantsOn(resources),
        network: callsProviders(kind) ? egress : undefined,
      });
  }

  private publish(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
