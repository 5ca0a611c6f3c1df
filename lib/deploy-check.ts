import { type CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import { ApiFunction, type FunctionDefaults, LIVE } from './api-function.ts';
import { CHECK_CONCURRENCY, type Config } from './config.ts';
import { allow } from './grants.ts';
import type { ServiceFunction } from './service-functions.ts';

interface DeployCheckProps {
  readonly defaults: FunctionDefaults;
  readonly codeFolder: string;
  readonly functions: readonly ServiceFunction[];
  readonly config: Pick<Config, 'keyPrefix' | 'otpAccess' | 'reservedConcurrency'>;
  /** The ARN of the secret with the API key of the canary; undefined without a canary. */
  readonly canaryKey: string | undefined;
}

/** Longer than four minutes, in which attempts begin, and the longest time limit of a version. */
const TIMEOUT = Duration.minutes(5);

/** The socket of the provider that invokes the function is closed after this time. Its error would hide which versions fail. */
const TRIGGER_TIMEOUT = Duration.seconds(330);

/**
 * Adds what checks every version before an alias moves: a function that invokes them, and a trigger that runs it in the deploy. The aliases
 * depend on the trigger. docs/contributors/adr/0018-a-check-before-traffic.md
 */
export const addDeployCheck = (
  scope: Construct,
  { defaults, codeFolder, functions, config, canaryKey }: DeployCheckProps,
): void => {
  const checker = new ApiFunction(scope, 'deploy-check', {
    ...defaults,
    description: 'Invokes each new version before it gets traffic',
    codeFolder,
    memoryMb: 512,
    timeoutSeconds: TIMEOUT.toSeconds(),
    environment: {
      // The trigger runs again only if the version of this function changes, which it does with any of these.
      VERSIONS: Stack.of(scope).toJsonString(
        Object.fromEntries(
          functions.map(({ name, lambda }) => [
            name,
            `${lambda.functionName}:${lambda.currentVersion.version}`,
          ]),
        ),
      ),
      KEY_PREFIX: config.keyPrefix,
      OTP_ACCESS: config.otpAccess,
      AUTHORIZER_IN_SERVICE: functions
        .filter(({ name }) => name === authorizer.name)
        .map(({ lambda }) => `${lambda.functionName}:${LIVE}`)
        .join(),
      ...(canaryKey !== undefined && { CANARY_KEY: canaryKey }),
    },
    ...(config.reservedConcurrency && { reservedConcurrency: CHECK_CONCURRENCY }),
    // Any version of them: a rollback checks the versions before, and IAM may not know the new ones yet.
    grants: [
      allow(
        ['lambda:InvokeFunction'],
        functions.map(({ lambda }) => `${lambda.functionArn}:*`),
      ),
      // The key policy of `customer-managed-key` allows the decryption to whoever may read the secret.
      ...(canaryKey === undefined ? [] : [allow(['secretsmanager:GetSecretValue'], [canaryKey])]),
    ],
  });
  const stack = Stack.of(scope);
  Validations.of(checker).acknowledge(
    ...functions.map(({ lambda }) => ({
      id: `AwsSolutions-IAM5[Resource::<${stack.getLogicalId(lambda.node.defaultChild as CfnElement)}.Arn>:*]`,
      reason: 'Versions of the functions of this stack.',
    })),
  );
  const trigger = new Trigger(scope, 'CheckBeforeTraffic', {
    handler: checker.lambda,
    timeout: TRIGGER_TIMEOUT,
  });
  trigger.executeBefore(...functions.map(({ alias }) => alias));
};
