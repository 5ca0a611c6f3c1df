import { Duration, type RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type ISecurityGroup, type IVpc, SubnetType } from 'aws-cdk-lib/aws-ec2';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ALARM_PERIOD, type MakeAlarm } from './alarms.ts';
import type { LoggedMetrics } from './metrics.ts';

/** API Gateway gives up after 29 seconds; a function must have answered before that. */
const MAX_TIMEOUT_SECONDS = 28;

/** Where a function's calls leave from, if that matters. */
export interface Network {
  readonly vpc: IVpc;
  readonly securityGroup: ISecurityGroup;
}

/** What is the same for every function of a stage. */
export interface FunctionDefaults {
  readonly logRetentionDays: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  readonly makeAlarm: MakeAlarm;
  readonly metrics: LoggedMetrics;
}

interface ApiFunctionProps extends FunctionDefaults {
  /** The name of its file in functions/, of its route and of its metrics. */
  readonly name: string;
  /** The folder that holds its bundle. */
  readonly codeFolder: string;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** What people cannot do while it is broken. */
  readonly impact: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly grants: readonly PolicyStatement[];
  readonly network?: Network | undefined;
  /** False for the canary, whose alarm is its own. */
  readonly isWatched?: boolean;
}

/** Traces and network interfaces have no ARN before they exist, so AWS lets these few actions be granted on `*` alone. */
const TRACING = new PolicyStatement({
  actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
  resources: ['*'],
});
const NETWORK_INTERFACES = new PolicyStatement({
  actions: [
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:AssignPrivateIpAddresses',
    'ec2:UnassignPrivateIpAddresses',
  ],
  resources: ['*'],
});

/** A Lambda function with every default of this service: its role, its log group and its alarms included. */
export class ApiFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    const { timeoutSeconds, network } = props;
    if (timeoutSeconds > MAX_TIMEOUT_SECONDS) {
      throw new Error(`${props.name}: a time-out of ${timeoutSeconds} s is more than API Gateway waits for`);
    }
    const logGroup = new LogGroup(this, 'Log', {
      retention: props.logRetentionDays,
      removalPolicy: props.removalPolicy,
    });
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      code: Code.fromAsset(props.codeFolder),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(timeoutSeconds),
      environment: { ...props.environment },
      // Complete as it is: what CDK would add to it by itself, it may not.
      role: this.roleFor(props, logGroup).withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
      ...(network && {
        vpc: network.vpc,
        vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
        securityGroups: [network.securityGroup],
      }),
    });
    if (props.isWatched ?? true) this.watch(props);
  }

  private roleFor({ grants, network }: ApiFunctionProps, logGroup: LogGroup): Role {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        own: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logGroup.logGroupArn],
            }),
            TRACING,
            ...(network ? [NETWORK_INTERFACES] : []),
            ...grants,
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray takes traces, and EC2 makes network interfaces, under "*" alone.',
    });
    return role;
  }

  private watch({ name, impact, timeoutSeconds, makeAlarm, metrics }: ApiFunctionProps): void {
    makeAlarm(this, {
      name: `${name}-failing`,
      impact,
      metric: metrics.one(
        'request_failed',
        'UnexpectedErrors',
        { operation: name },
        {
          period: ALARM_PERIOD,
          statistic: 'Sum',
        },
      ),
      threshold: 3,
    });
    makeAlarm(this, {
      name: `${name}-slow`,
      impact: `${impact} At least one in a hundred waits more than half the time-out.`,
      metric: this.lambda.metricDuration({ period: ALARM_PERIOD, statistic: 'p99' }),
      threshold: (timeoutSeconds * 1000) / 2,
      periods: [3, 3],
    });
  }
}
