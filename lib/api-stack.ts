import { type App, CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { ALARM_PERIOD, alarmActions, alarmMaker } from './alarms.ts';
import type { FunctionDefaults } from './api-function.ts';
import { addBudget } from './budget.ts';
import type { Bundles } from './bundling.ts';
import { addCanary } from './canary.ts';
import type { Config } from './config.ts';
import { addDashboard } from './dashboard.ts';
import type { DataStack } from './data-stack.ts';
import { addFirewall } from './firewall.ts';
import { addGatewayResponses } from './gateway-responses.ts';
import { addMethods } from './methods.ts';
import { loggedMetrics } from './metrics.ts';
import { apiStackName, OUTPUTS, usagePlanOutput } from './outputs.ts';
import type { Release } from './release.ts';
import { baseUrlOf, restApi } from './rest-api.ts';
import { rolloutOf } from './rollout.ts';
import { addServiceAlarms } from './service-alarms.ts';
import { serviceFunctions } from './service-functions.ts';
import { staticEgress } from './static-egress.ts';
import { addUsagePlans } from './usage-plans.ts';

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
      description: `Buyer Linking (${config.stage}): API, functions, alarms`,
      terminationProtection: config.removal === 'retain',
      // Tags of the stack, which AWS copies to its resources: the template stays the same. The data stack has none, so that a release does not touch it.
      tags: { ...release },
    });
    const removalPolicy = config.removal === 'retain' ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const logs = { retention: config.logRetentionDays, removalPolicy, ...data.encryption };
    const api = restApi(this, name, config, logs);
    const baseUrl = baseUrlOf(api, config);
    const egress = config.staticEgress ? staticEgress(this, logs) : undefined;
    const defaults: FunctionDefaults = {
      logs,
      makeAlarm: alarmMaker(config, alarmActions(this, config)),
      metrics: loggedMetrics(config.stage),
      rollout: rolloutOf(this, config),
    };
    const functions = serviceFunctions(this, {
      config,
      bundles,
      data,
      release,
      defaults,
      egress,
      baseUrl,
    });

    addMethods(api, {
      otpAccess: config.otpAccess,
      authorizer: functions.authorizer(),
      functionOf: functions.ofRoute,
    });
    addGatewayResponses(api);
    const plans = addUsagePlans(this, { api, stage: api.deploymentStage, name });
    if (config.firewall) {
      addFirewall(this, api.deploymentStage, { ...config.firewall, otpAccess: config.otpAccess });
    }
    if (config.canary) addCanary(this, { ...defaults, codeFolder: bundles.folderOf('canary'), baseUrl });

    addBudget(this, config);
    this.addMonitoring(config, { api, data, defaults });
    this.addOutputs({
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
      ...Object.fromEntries(PLAN_NAMES.map((plan) => [usagePlanOutput(plan), plans[plan].usagePlanId])),
      ...(egress && { [OUTPUTS.egressAddress]: egress.address }),
      ...(api.domainName && { [OUTPUTS.domainTarget]: api.domainName.domainNameAliasDomainName }),
    });
  }

  /** Adds the alarms of the service as a whole, and a dashboard with these and the alarms of the functions. */
  private addMonitoring(
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

  private addOutputs(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
