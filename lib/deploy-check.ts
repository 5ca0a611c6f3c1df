import { type CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import { ApiFunction, type FunctionDefaults } from './api-function.ts';
import type { Config } from './config.ts';
import { allow } from './grants.ts';
import type { ServiceFunction } from './service-functions.ts';

interface DeployCheckProps {
  readonly defaults: FunctionDefaults;
  readonly codeFolder: string;
  readonly functions: readonly ServiceFunction[];
  readonly config: Pick<Config, 'keyPrefix'>;
}

/** Longer than the attempts of a version that times out each time. */
const TIMEOUT = Duration.minutes(5);

/**
 * Adds what checks every version before an alias moves: a function that invokes them, and a trigger that runs it in the deploy. The aliases
 * depend on the trigger. docs/contributors/adr/0018-a-check-before-traffic.md
 */
export const addDeployCheck = (
  scope: Construct,
  { defaults, codeFolder, functions, config }: DeployCheckProps,
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
    },
    // Any version of them: a rollback checks the versions before, and IAM may not know the new ones yet.
    grants: [
      allow(
        ['lambda:InvokeFunction'],
        functions.map(({ lambda }) => `${lambda.functionArn}:*`),
      ),
    ],
  });
  const stack = Stack.of(scope);
  Validations.of(checker).acknowledge(
    ...functions.map(({ lambda }) => ({
      id: `AwsSolutions-IAM5[Resource::<${stack.getLogicalId(lambda.node.defaultChild as CfnElement)}.Arn>:*]`,
      reason: 'Versions of the functions of this stack.',
    })),
  );
  const trigger = new Trigger(scope, 'CheckBeforeTraffic', { handler: checker.lambda, timeout: TIMEOUT });
  trigger.executeBefore(...functions.map(({ alias }) => alias));
};
