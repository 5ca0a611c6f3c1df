import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnAlias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';
import { allow } from './grants.ts';
import { awsMetric, loggedMetrics } from './metrics.ts';

/** The alias that API Gateway invokes in a stage with a gradual rollout. */
const ALIAS = 'live';

/**
 * Deployments that CodeDeploy runs at the same time. Each polls its alias, and more of them in one deploy end with "exceeded the request
 * limit for AWSLambda" (serverless-plugin-canary-deployments, issue 159): Lambda allows 15 such requests a second.
 */
const GROUP = 10;

/** CodeDeploy reads the alarm about once a minute, so a failing version is found one to three minutes after its first failure. */
const VIEW = { period: Duration.minutes(1), statistic: 'Sum' } as const;

/**
 * Failing minutes of the last five, so that a minute whose metrics arrive late still counts. FILL must not be used here: "if your
 * metrics are being published with a slight delay, and the most recent minute never has data […] FILL replaces that missing data point
 * with the requested value […], which can result in the alarm being stuck in either OK state or ALARM state" (CloudWatch, Using metric
 * math). It is not needed: "Missing values in a time series are treated as 0" by arithmetic, and by a comparison if the other series
 * has a value.
 *
 * Lambda counts an unhandled error, a timeout and a crash during start as an error. The authorizer also throws to refuse a key. So its errors
 * count only while the version decides on no key at all, and in two minutes, since its own metric may arrive after that of Lambda.
 */
const FAILURES = { expression: 'internal + errors', failing: 1 } as const;
const FAILURES_OF_AUTHORIZER = {
  expression: 'internal + IF(errors >= 5 AND checked == 0, errors, 0)',
  failing: 2,
} as const;

interface RolloutFunction {
  readonly name: string;
  /** What people cannot do while the function fails. */
  readonly impact: string;
  readonly lambda: LambdaFunction;
  /** Whether the function throws to refuse a request, as a Lambda authorizer must. */
  readonly throwsToRefuse?: boolean;
}

/**
 * Adds what shifts the traffic of a function to its new version gradually, and back if that version fails: its alias, its deployment
 * group and an alarm. Returns the alias.
 */
export type Rollout = (scope: Construct, of: RolloutFunction) => Alias;

/**
 * Returns an alarm on the failures of the version that is being deployed: one is enough, since a sound version has none. It notifies nobody,
 * and its name is not that of a stage's alarm: CodeDeploy rolls back by itself. It ends with the version: a changed alarm keeps its state at first.
 */
const versionAlarm = (scope: Construct, of: RolloutFunction, stage: string) => {
  const { name, impact, lambda, throwsToRefuse = false } = of;
  const { version } = lambda.currentVersion;
  const metrics = loggedMetrics(stage);
  const { expression, failing } = throwsToRefuse ? FAILURES_OF_AUTHORIZER : FAILURES;
  const { functionName } = lambda;
  const dimensions = {
    FunctionName: functionName,
    Resource: `${functionName}:${ALIAS}`,
    ExecutedVersion: version,
  };
  return new Alarm(scope, 'RolloutAlarm', {
    alarmName: `buyer-linking-rollout-${stage}-${name}-${version}`,
    alarmDescription: `${impact} It concerns the requests that get the new version of ${name}; its deploy is rolled back. docs/operations.md, "Gradual rollout".`,
    metric: new MathExpression({
      expression,
      label: 'failures of the new version',
      period: VIEW.period,
      usingMetrics: {
        internal: metrics.one('UnexpectedErrors', { operation: name, version }, VIEW),
        errors: awsMetric('Lambda', 'Errors', dimensions, VIEW),
        ...(throwsToRefuse && { checked: metrics.one('KeysChecked', { version }, VIEW) }),
      },
    }),
    threshold: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm: failing,
    evaluationPeriods: 5,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
};

/** Adds what the rollouts of a stage share, and returns the rollout; undefined if new versions get all traffic at once. */
export const rolloutOf = (scope: Construct, config: Config): Rollout | undefined => {
  const { rollout, stage } = config;
  if (rollout === 'all-at-once') return undefined;
  const application = new LambdaApplication(scope, 'Rollout');
  // "must have a * scope" (CloudWatch, DescribeAlarms), as in the managed policy of AWS. Each function adds itself.
  const policy = new PolicyDocument({ statements: [allow(['cloudwatch:DescribeAlarms'], ['*'])] });
  const role = new Role(scope, 'RolloutRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    inlinePolicies: { own: policy },
  });
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'CloudWatch allows DescribeAlarms on all alarms or on none.',
  });
  const aliases: CfnAlias[] = [];
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
      alarms: [versionAlarm(parent, of, stage)],
      // The managed policy of AWS would be added to it, which allows more than this.
      role: role.withoutPolicyUpdates(),
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    const resource = alias.node.defaultChild as CfnAlias;
    // An alias without this policy is moved by CloudFormation itself. The next gradual deploy finds the group as it was.
    if (rollout === 'direct') resource.cfnOptions.updatePolicy = undefined;
    const earlier = aliases.at(-GROUP);
    if (earlier) resource.addResourceDependency(earlier);
    aliases.push(resource);
    return alias;
  };
};
