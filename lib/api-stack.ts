import { type App, CfnOutput, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { addAlarms } from './alarms.ts';
import type { FunctionDefaults } from './api-function.ts';
import type { Bundles } from './bundling.ts';
import { addCanary } from './canary.ts';
import { accountAndRegionOf, type Config } from './config.ts';
import { addDashboard } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { addDeployCheck } from './deploy-check.ts';
import { addFirewall } from './firewall.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { addLogQueries } from './log-queries.ts';
import { addMethods } from './methods.ts';
import { loggedMetrics } from './metrics.ts';
import { apiStackName, OUTPUTS, usagePlanOutput } from './outputs.ts';
import type { Release } from './release.ts';
import { addressesOf, addUsagePlans, issuersOf, restApi } from './rest-api.ts';
import { serviceAlarms } from './service-alarms.ts';
import { addServiceFunctions } from './service-functions.ts';
import { staticEgress } from './static-egress.ts';

interface ApiStackProps {
  readonly config: Config;
  readonly bundles: Bundles;
  readonly data: DataStack;
  readonly release: Release;
}

/** Keeps what was in use. What a failed first deploy made is deleted with it. */
const keptInUse = ({ removal }: Config): RemovalPolicy =>
  removal === 'retain' ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;

/** Returns the outputs that the config, the data stack and the checkout determine. */
const knownOutputs = (config: Config, data: DataStack, release: Release) => ({
  [OUTPUTS.stageName]: config.stage,
  [OUTPUTS.tableName]: data.table.tableName,
  [OUTPUTS.hashSecretArn]: data.hashSecret.secretArn,
  [OUTPUTS.keyPrefix]: config.keyPrefix,
  [OUTPUTS.providers]: [...new Set([...config.providers.identityRegistry, ...config.providers.sms])].join(
    ',',
  ),
  [OUTPUTS.version]: release.version,
  [OUTPUTS.commit]: release.commit,
});

/** The stack that runs the service: the functions, the REST API in front of them, the alarms and the dashboard. */
export class ApiStack extends Stack {
  constructor(app: App, { config, bundles, data, release }: ApiStackProps) {
    const name = apiStackName(config.stage);
    super(app, name, {
      env: accountAndRegionOf(config),
      description: `Buyer Linking (${config.stage}): API, functions, alarms`,
      terminationProtection: config.removal === 'retain',
    });
    const logs = { retention: config.logRetentionDays, removalPolicy: keptInUse(config), ...data.encryption };
    const accessLog = new LogGroup(this, 'AccessLog', logs);
    const api = restApi(this, name, config, accessLog);
    const addresses = addressesOf(api, config);
    const egress =
      config.staticEgress === null ? undefined : staticEgress(this, config.staticEgress, keptInUse(config));
    const defaults: FunctionDefaults = { logs };
    const parts = { config, bundles, data, release, defaults, egress, issuers: issuersOf(api, config) };
    const functions = addServiceFunctions(this, parts);
    // Nobody would hear of its failures without alarms.
    const canary =
      config.alarms === null
        ? undefined
        : addCanary(this, {
            ...defaults,
            codeFolder: bundles.folderOf('canary'),
            addresses,
            config,
            encryption: data.encryption,
          });
    const codeFolder = bundles.folderOf('deploy-check');
    addDeployCheck(this, { defaults, codeFolder, functions, config, canaryKey: canary?.secretArn });
    addMethods(api, config.otpAccess, functions);
    addGatewayResponses(api);
    const plans = addUsagePlans(this, api, name);
    if (config.firewall) addFirewall(this, api.deploymentStage, { ...config, ...config.firewall });

    const monitored = { config, metrics: loggedMetrics(config.stage), api, table: data.table, functions };
    const watch = addAlarms(this, config, [...serviceAlarms(monitored), ...(canary ? [canary.alarm] : [])]);
    const logGroups = [...functions, ...(canary ? [canary.lambda] : [])].map(({ logGroup }) => logGroup);
    addLogQueries(this, name, { functions: logGroups, access: accessLog });
    this.addOutputs({
      ...knownOutputs(config, data, release),
      [OUTPUTS.apiId]: api.restApiId,
      [OUTPUTS.baseUrl]: addresses[0],
      ...Object.fromEntries(plans.map(([plan, { usagePlanId }]) => [usagePlanOutput(plan), usagePlanId])),
      [OUTPUTS.canarySecretArn]: canary?.secretArn,
      [OUTPUTS.dashboardName]: watch && addDashboard(this, monitored, watch.alarms),
      [OUTPUTS.alarmTopicArn]: watch?.topicArn,
      [OUTPUTS.egressAddress]: egress?.addresses.join(','),
      [OUTPUTS.domainTarget]: api.domainName?.domainNameAliasDomainName,
    });
  }

  private addOutputs(outputs: Readonly<Record<string, string | undefined>>): void {
    for (const [output, value] of Object.entries(outputs)) {
      if (value !== undefined) new CfnOutput(this, output, { value });
    }
  }

  /** The first two zones of the Region. CDK would look the zones of a fixed account and Region up, and a synth needs no credentials. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }
}
