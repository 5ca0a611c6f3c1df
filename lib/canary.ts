import { Duration } from 'aws-cdk-lib';
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { ApiFunction, type FunctionDefaults } from './api-function.ts';
import { ALARM_PERIOD, SUM } from './metrics.ts';

const IMPACT = 'The service does not respond over its public URL: no client can use it.';

interface CanaryProps extends FunctionDefaults {
  readonly codeFolder: string;
  readonly baseUrl: string;
}

/** Adds a function that requests the public keys every five minutes over the public URL, and an alarm on its failures. */
export const addCanary = (scope: Construct, { baseUrl, ...props }: CanaryProps): void => {
  const canary = new ApiFunction(scope, 'canary', {
    ...props,
    name: 'canary',
    description: 'Requests the public keys over the public URL',
    memoryMb: 256,
    timeoutSeconds: 20,
    impact: IMPACT,
    environment: { BASE_URL: baseUrl },
    grants: [],
    isOperation: false,
  });
  new Rule(scope, 'CanarySchedule', {
    schedule: Schedule.rate(ALARM_PERIOD),
    targets: [new FunctionTarget(canary.lambda, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
  props.monitoring.addAlarm(scope, {
    name: 'canary',
    impact: IMPACT,
    metric: canary.lambda.metricErrors(SUM),
    threshold: 1,
    periods: [2, 3],
    // The canary reports every five minutes, so missing data is a failure too.
    missingData: TreatMissingData.BREACHING,
  });
};
