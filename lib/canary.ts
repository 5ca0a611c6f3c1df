import { Duration, Validations } from 'aws-cdk-lib';
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { AlarmProps } from './alarms.ts';
import { ApiFunction, type FunctionDefaults } from './api-function.ts';
import type { Config } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { allow } from './grants.ts';
import { ALARM_PERIOD, metricNamespaceOf, SUM } from './metrics.ts';

interface CanaryProps extends FunctionDefaults {
  readonly codeFolder: string;
  /** The base URL first. */
  readonly addresses: readonly string[];
  readonly config: Pick<Config, 'stage' | 'providers'>;
  readonly encryption: DataStack['encryption'];
}

/**
 * Adds the secret of the canary's API key. It has no value until an admin stores one: CloudFormation cannot issue a key. "If you omit both
 * GenerateSecretString and SecretString, you create an empty secret" (CloudFormation, AWS::SecretsManager::Secret).
 */
const keySecretArn = (
  scope: Construct,
  stage: string,
  { encryptionKey }: DataStack['encryption'],
): string => {
  const secret = new CfnSecret(scope, 'CanaryKey', {
    description: `Buyer Linking (${stage}): the API key of the canary. docs/operators/deploy.md says how to store it.`,
    ...(encryptionKey && { kmsKeyId: encryptionKey.keyArn }),
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason: 'The value is an API key of the service, which an admin issues, rotates and stores.',
  });
  return secret.ref;
};

interface Canary {
  readonly lambda: ApiFunction;
  /** Of the secret that takes its API key. */
  readonly secretArn: string;
  readonly alarm: AlarmProps;
}

/** Adds a function that calls the service every five minutes over its public addresses. */
export const addCanary = (scope: Construct, props: CanaryProps): Canary => {
  const { addresses, config, encryption, ...defaults } = props;
  const secretArn = keySecretArn(scope, config.stage, encryption);
  const canary = new ApiFunction(scope, 'canary', {
    ...defaults,
    description: 'Calls the service over its public addresses',
    memoryMb: 256,
    timeoutSeconds: 28,
    environment: {
      ADDRESSES: addresses.join(','),
      KEY_SECRET: secretArn,
      PROVIDERS: isSandbox(config.providers.sms) ? 'sandbox' : 'real',
      METRIC_NAMESPACE: metricNamespaceOf(config.stage),
    },
    grants: [allow(['secretsmanager:GetSecretValue'], [secretArn])],
  });
  // A failed run is reported as it is: Lambda would repeat it twice, beside the retries of EventBridge.
  const alias = canary.addAlias();
  alias.configureAsyncInvoke({ retryAttempts: 0 });
  new Rule(scope, 'CanarySchedule', {
    schedule: Schedule.rate(ALARM_PERIOD),
    targets: [new FunctionTarget(alias, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
  return { lambda: canary, secretArn, alarm: alarmOf(canary) };
};

const alarmOf = ({ lambda }: ApiFunction): AlarmProps => ({
  name: 'canary',
  impact: 'The service does not respond as it should over a public address: clients cannot use it.',
  metric: lambda.metricErrors(SUM),
  threshold: 1,
  periods: [2, 3],
  // The canary reports every five minutes, so missing data is a failure too.
  missingData: TreatMissingData.BREACHING,
});
