import { type App, CfnOutput, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { addBudget, monitoringOf } from './alarms.ts';
import type { FunctionDefaults } from './api-function.ts';
import type { Bundles } from './bundling.ts';
import { addCanary } from './canary/canary.ts';
import { type Config, environmentOf } from './config.ts';
import { addDashboard, addLogQueries } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { addFirewall } from './firewall.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { addMethods } from './methods.ts';
import { apiStackName, OUTPUTS, usagePlanOutput } from './outputs.ts';
import type { Release } from './release.ts';
import { addUsagePlans, baseUrlOf, issuersOf, restApi } from './rest-api.ts';
import { rolloutOf } from './rollout.ts';
import { addServiceAlarms } from './service-alarms.ts';
import { serviceFunctions } from './service-functions.ts';
import { staticEgress } from './static-egress.ts';

interface ApiStackProps {
  readonly config: Config;
  readonly bundles: Bundles;
  readonly data: DataStack;
  readonly release: Release;
}

/** The stack that runs the service: the functions, the REST API in front of them, the alarms and the dashboard. */
export class ApiStack extends Stack {
  constructor(app: App, { config, bundles, data, release }: ApiStackProps) {
    const name = apiStackName(config.stage);
    super(app, name, {
      env: environmentOf(config),
      description: `Buyer Linking (${config.stage}): API, functions, alarms`,
      terminationProtection: config.removal === 'retain',
    });
    const removalPolicy = config.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const logs = { retention: config.logRetentionDays, removalPolicy, ...data.encryption };
    const api = restApi(this, name, config, logs);
    const baseUrl = baseUrlOf(api, config);
    const egress = config.staticEgress === null ? undefined : staticEgress(this, config.staticEgress, logs);
    const monitoring = monitoringOf(this, config);
    const defaults: FunctionDefaults = { logs, rollout: rolloutOf(this, config) };
    const issuers = issuersOf(api, config);
    const functions = serviceFunctions(this, { config, bundles, data, release, defaults, egress, issuers });
    addMethods(api, config.otpAccess, functions);
    addGatewayResponses(api);
    const plans = addUsagePlans(this, api, name);
    if (config.firewall) {
      addFirewall(this, api.deploymentStage, { ...config, ...config.firewall });
    }
    const canarySecretArn = addCanary(this, {
      ...defaults,
      monitoring,
      codeFolder: bundles.folderOf('canary'),
      baseUrl,
      config,
      encryption: data.encryption,
    });

    addBudget(this, config);
    const monitored = { config, monitoring, api, table: data.table };
    addServiceAlarms(this, monitored);
    addLogQueries(this, name);
    const dashboardName = config.alarms === null ? undefined : addDashboard(this, monitored);
    const outputs: Readonly<Record<string, string>> = {
      [OUTPUTS.apiId]: api.restApiId,
      [OUTPUTS.stageName]: config.stage,
      [OUTPUTS.baseUrl]: baseUrl,
      [OUTPUTS.tableName]: data.table.tableName,
      [OUTPUTS.hashSecretArn]: data.hashSecret.secretArn,
      [OUTPUTS.keyPrefix]: config.keyPrefix,
      [OUTPUTS.providers]: [...new Set([...config.providers.identityRegistry, ...config.providers.sms])].join(
        ',',
      ),
      [OUTPUTS.version]: release.version,
      [OUTPUTS.commit]: release.commit,
      ...Object.fromEntries(plans.map(([plan, { usagePlanId }]) => [usagePlanOutput(plan), usagePlanId])),
      [OUTPUTS.canarySecretArn]: canarySecretArn,
      ...(dashboardName && { [OUTPUTS.dashboardName]: dashboardName }),
      ...(egress && { [OUTPUTS.egressAddress]: egress.addresses.join(',') }),
      ...(api.domainName && { [OUTPUTS.domainTarget]: api.domainName.domainNameAliasDomainName }),
    };
    for (const [output, value] of Object.entries(outputs)) new CfnOutput(this, output, { value });
  }

  /** The first two zones of the Region. CDK would look the zones of a fixed account and Region up, and a synth needs no credentials. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }
}
