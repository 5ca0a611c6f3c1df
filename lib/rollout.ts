import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnAlias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { RouteName } from '#shared/routes.ts';
import type { Config } from './config.ts';
import { allow } from './grants.ts';
import { awsMetric, loggedMetrics } from './metrics.ts';

/** The alias that API Gateway invokes in a stage with a gradual rollout. */
const ALIAS = 'live';

/**
 * The functions whose new version gets traffic in steps: a failure of any of them stops linking, signing in or reading for everybody. All
 * others get new code at once; an alarm tells of their failures, and deploying the release before is the way back.
 */
const IN_STEPS = [
  'authorizer',
  'create-user',
  'list-users',
  'send-otp',
  'verify-otp',
] as const satisfies readonly (RouteName | 'authorizer')[];

interface VersionInSteps {
  readonly name: (typeof IN_STEPS)[number];
  readonly lambda: LambdaFunction;
  readonly stage: string;
}

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

/**
 * Adds what shifts the traffic of a function to its new version gradually, and back if that version fails: its alias, its deployment
 * group and an alarm. Returns the alias; undefined for a function that gets new code at once.
 */
export type Rollout = (scope: Construct, name: string, lambda: LambdaFunction) => Alias | undefined;

/**
 * Returns an alarm on the failures of the version that is being deployed: one is enough, since a sound version has none. It notifies nobody,
 * and its name is not that of a stage's alarm: CodeDeploy rolls back by itself. It ends with the version: a changed alarm keeps its state at first.
 */
const versionAlarm = (scope: Construct, { name, lambda, stage }: VersionInSteps) => {
  const { version } = lambda.currentVersion;
  const metrics = loggedMetrics(stage);
  const isAuthorizer = name === 'authorizer';
  const { expression, failing } = isAuthorizer ? FAILURES_OF_AUTHORIZER : FAILURES;
  const { functionName } = lambda;
  const dimensions = {
    FunctionName: functionName,
    Resource: `${functionName}:${ALIAS}`,
    ExecutedVersion: version,
  };
  return new Alarm(scope, 'RolloutAlarm', {
    alarmName: `buyer-linking-rollout-${stage}-${name}-${version}`,
    alarmDescription: `The new version of ${name} fails; its deploy is rolled back. docs/operators/operations.md, "Gradual rollout".`,
    metric: new MathExpression({
      expression,
      label: 'failures of the new version',
      period: VIEW.period,
      usingMetrics: {
        internal: metrics.one('UnexpectedErrors', { operation: name, version }, VIEW),
        errors: awsMetric('Lambda', 'Errors', dimensions, VIEW),
        ...(isAuthorizer && { checked: metrics.one('KeysChecked', { version }, VIEW) }),
      },
    }),
    threshold: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm: failing,
    evaluationPeriods: 5,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
};

/** Returns the role of CodeDeploy, and the policy to which each function adds itself. */
const deployRole = (scope: Construct) => {
  // "must have a * scope" (CloudWatch, DescribeAlarms), as in the managed policy of AWS.
  const policy = new PolicyDocument({ statements: [allow(['cloudwatch:DescribeAlarms'], ['*'])] });
  const role = new Role(scope, 'RolloutRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    inlinePolicies: { own: policy },
  });
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'CloudWatch allows DescribeAlarms on all alarms or on none.',
  });
  return { policy, role };
};

/** Adds what the rollouts of a stage share, and returns the rollout; undefined if all new code gets all traffic at once. */
export const rolloutOf = (scope: Construct, { rollout, stage }: Config): Rollout | undefined => {
  if (rollout === 'all-at-once') return undefined;
  const application = new LambdaApplication(scope, 'Rollout');
  const { policy, role } = deployRole(scope);
  return (parent, functionName, lambda) => {
    const name = IN_STEPS.find((each) => each === functionName);
    if (name === undefined) return undefined;
    const alias = new Alias(parent, 'Live', { aliasName: ALIAS, version: lambda.currentVersion });
    policy.addStatements(
      allow(
        ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        [lambda.functionArn, `${lambda.functionArn}:${ALIAS}`],
      ),
    );
    new LambdaDeploymentGroup(parent, 'Rollout', {
      application,
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [versionAlarm(parent, { name, lambda, stage })],
      // The managed policy of AWS would be added to it, which allows more than this.
      role: role.withoutPolicyUpdates(),
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // An alias without this policy is moved by CloudFormation itself. The next gradual deploy finds the group as it was.
    if (rollout === 'direct') (alias.node.defaultChild as CfnAlias).cfnOptions.updatePolicy = undefined;
    return alias;
  };
};
