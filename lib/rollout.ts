import { ArnFormat, Aws, Duration, Stack, Validations } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnAlias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Monitoring } from './alarms.ts';
import type { Config } from './config.ts';
import { allow } from './grants.ts';
import { alarmNamePrefix } from './outputs.ts';

/** The alias that API Gateway invokes in a stage with a gradual rollout. */
const ALIAS = 'live';

/** The end of the names of the alarms that roll a deploy back. */
const ALARM = 'rollout-failing';

/** CodeDeploy reads the alarm about once a minute, so a failing version is found one to three minutes after its first failure. */
const VIEW = { period: Duration.minutes(1), statistic: 'Sum' } as const;

/**
 * One failing minute of the last five, so that a minute whose metrics arrive late still counts. FILL must not be used here: "if your
 * metrics are being published with a slight delay, and the most recent minute never has data […] FILL replaces that missing data point
 * with the requested value […], which can result in the alarm being stuck in either OK state or ALARM state" (CloudWatch, Using metric
 * math). It is not needed: "Missing values in a time series are treated as 0" by arithmetic, and by a comparison if the other series
 * has a value.
 */
const PERIODS = [1, 5] as const;

/**
 * Lambda counts an unhandled error, a timeout and a crash during start as an error. Where a function also throws to refuse a request,
 * as the authorizer must, only a version whose runs all fail counts.
 */
const CRASHES = {
  'never-throws': 'errors',
  'throws-to-refuse': 'IF(errors >= 5 AND errors == runs, errors, 0)',
} as const;

/** Whether a function throws to refuse a request, as a Lambda authorizer must. */
export type Throwing = keyof typeof CRASHES;

interface RolloutFunction {
  readonly name: string;
  readonly impact: string;
  readonly lambda: LambdaFunction;
  readonly throwing?: Throwing;
  readonly monitoring: Monitoring;
}

/**
 * Adds what shifts the traffic of a function to its new version gradually, and back if that version fails: its alias, its deployment
 * group and an alarm. Returns the alias.
 */
export type Rollout = (scope: Construct, of: RolloutFunction) => Alias;

/** Returns an alarm on the failures of the version that is being deployed: one is enough, since a sound version has none. */
const versionAlarm = (scope: Construct, of: RolloutFunction) => {
  const { name, lambda, throwing = 'never-throws', impact, monitoring } = of;
  const { version } = lambda.currentVersion;
  const ofVersion = (metricName: string) =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: {
        FunctionName: lambda.functionName,
        Resource: `${lambda.functionName}:${ALIAS}`,
        ExecutedVersion: version,
      },
      ...VIEW,
    });
  const internal = monitoring.metrics.one('UnexpectedErrors', { operation: name, version }, VIEW);
  return monitoring.addAlarm(scope, {
    name: `${name}-${ALARM}`,
    section: `<operation>-${ALARM}`,
    version,
    impact: `${impact} The version that is being deployed fails, and the deploy is rolled back.`,
    metric: new MathExpression({
      expression: `internal + ${CRASHES[throwing]}`,
      label: 'failures of the new version',
      period: VIEW.period,
      usingMetrics: {
        internal,
        errors: ofVersion('Errors'),
        ...(throwing === 'throws-to-refuse' && { runs: ofVersion('Invocations') }),
      },
    }),
    threshold: 1,
    periods: PERIODS,
  });
};

/** Adds the role with which CodeDeploy shifts the traffic; each function adds itself to its policy. */
const codeDeployRole = (scope: Construct, { stage }: Config) => {
  // By name and not by ARN, so that a deploy, which renames the alarms, does not change the role that it uses.
  const alarms = `${alarmNamePrefix(stage)}*-${ALARM}-*`;
  // As parameters, also in a fixed account and Region: the acknowledgment below names them.
  const resource = Stack.of(scope).formatArn({
    partition: Aws.PARTITION,
    region: Aws.REGION,
    account: Aws.ACCOUNT_ID,
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: alarms,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const policy = new PolicyDocument({
    statements: [allow(['cloudwatch:DescribeAlarms'], [resource])],
  });
  const role = new Role(scope, 'RolloutRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    inlinePolicies: { own: policy },
  });
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:${alarms}]`,
    reason:
      'The names of the alarms that CodeDeploy reads end with the version of a function, which each deploy changes.',
  });
  return { role, policy };
};

/** Adds what the rollouts of a stage share, and returns the rollout; undefined if new versions get all traffic at once. */
export const rolloutOf = (scope: Construct, config: Config): Rollout | undefined => {
  const { rollout } = config;
  if (rollout === 'all-at-once') return undefined;
  const application = new LambdaApplication(scope, 'Rollout');
  const { role, policy } = codeDeployRole(scope, config);
  return (parent, of) => {
    const alias = new Alias(parent, 'Live', { aliasName: ALIAS, version: of.lambda.currentVersion });
    const { functionArn } = of.lambda;
    policy.addStatements(
      allow(
        ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        [functionArn, `${functionArn}:${ALIAS}`],
      ),
    );
    new LambdaDeploymentGroup(parent, 'Rollout', {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [versionAlarm(parent, of)],
      // The managed policy of AWS would be added to it, which allows more than this.
      role: role.withoutPolicyUpdates(),
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // An alias without this policy is moved by CloudFormation itself. The next gradual deploy finds the group as it was.
    if (rollout === 'direct') (alias.node.defaultChild as CfnAlias).cfnOptions.updatePolicy = undefined;
    return alias;
  };
};
