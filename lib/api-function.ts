import { ArnFormat, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionRow } from '#shared/route.ts';
import { allow } from './grants.ts';
import type { StaticEgress } from './static-egress.ts';

/** The properties that every function of a stage shares. */
export interface FunctionDefaults {
  readonly logs: LogGroupProps;
}

/** What a function needs besides the defaults. */
export interface ApiFunctionProps extends FunctionDefaults, Pick<FunctionRow, 'memoryMb' | 'timeoutSeconds'> {
  readonly description: string;
  /** The folder of its bundle. */
  readonly codeFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly grants: readonly PolicyStatement[];
  /** The network of a function that needs a fixed outbound address. */
  readonly egress?: StaticEgress | undefined;
  /** The concurrency that is kept for this function alone and is also its limit; undefined: none is reserved. */
  readonly reservedConcurrency?: number | undefined;
}

/** AWS accepts only `*` as the resource of these actions: a network interface has no ARN before it exists. */
const NETWORK_INTERFACE_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * Lets the Lambda service connect a function to the network, and denies the same to the function's code by `lambda:SourceFunctionArn`, as
 * "Giving Lambda functions access to resources in an Amazon VPC" advises. AWS sets that key for calls "from within your execution
 * environment", and of its own calls for logs, traces and file systems only (Lambda, Using source function ARN to control function access
 * behavior). It matches any function here, since a role that names its own function would refer to itself.
 */
const networkInterfaces = (scope: Construct): readonly PolicyStatement[] => [
  allow(NETWORK_INTERFACE_ACTIONS, ['*']),
  new PolicyStatement({
    effect: Effect.DENY,
    actions: NETWORK_INTERFACE_ACTIONS,
    resources: ['*'],
    conditions: {
      ArnLike: {
        'lambda:SourceFunctionArn': Stack.of(scope).formatArn({
          service: 'lambda',
          resource: 'function',
          resourceName: '*',
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      },
    },
  }),
];

/** The alias that serves the requests of a function. */
export const LIVE = 'live';

/** A Lambda function with the defaults of this service, its role and its log group. */
export class ApiFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    const { egress } = props;
    this.logGroup = new LogGroup(this, 'Log', props.logs);
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      code: Code.fromAsset(props.codeFolder),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb,
      timeout: Duration.seconds(props.timeoutSeconds),
      environment: { ...props.environment },
      // The role is complete: CDK must not add statements to it.
      role: this.roleFor(props).withoutPolicyUpdates(),
      logGroup: this.logGroup,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
      // Kept, since an alias can be moved back by hand. One that a failed deploy made is deleted: Lambda would not publish the same code again,
      // and the deploy could not be repeated.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
      loggingFormat: LoggingFormat.JSON,
      ...(egress && {
        vpc: egress.vpc,
        vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
        securityGroups: [egress.securityGroup],
      }),
    });
  }

  /** Adds the alias that callers invoke. CloudFormation moves it to the new version, so that code and configuration change together. */
  addAlias(): Alias {
    return new Alias(this, 'Live', { aliasName: LIVE, version: this.lambda.currentVersion });
  }

  private roleFor({ grants, egress }: ApiFunctionProps): Role {
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        own: new PolicyDocument({
          statements: [
            allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]),
            ...(egress ? networkInterfaces(this) : []),
            ...grants,
          ],
        }),
      },
    });
    if (egress) {
      Validations.of(role).acknowledge({
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'EC2 network interfaces have no ARN before they exist.',
      });
    }
    return role;
  }
}
