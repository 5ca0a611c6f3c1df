import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IAlarmAction,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';

/** The period that alarms look at. */
export const ALARM_PERIOD = Duration.minutes(5);

interface AlarmProps {
  /** As in docs/operations.md, which has a section for every name. */
  readonly name: string;
  /** What people cannot do while this lasts: one sentence, the first that a person on call reads. */
  readonly impact: string;
  readonly metric: IMetric;
  /** The alarm rings at this value and above it. */
  readonly threshold: number;
  /** How many of the last periods must be bad: [bad ones, looked at]. */
  readonly periods?: readonly [number, number];
  /** What no data means: nothing happened, unless the metric comes by itself. */
  readonly noData?: TreatMissingData;
}

/** Makes the alarms of one stage: named alike, sent to the same place. */
export const alarmMaker =
  (stage: string, actions: readonly IAlarmAction[]) =>
  (scope: Construct, props: AlarmProps): Alarm => {
    const { name, impact, metric, threshold, periods: [bad, seen] = [1, 1] } = props;
    const alarm = new Alarm(scope, `Alarm-${name}`, {
      alarmName: `buyer-linking-${stage}-${name}`,
      alarmDescription: `${impact} What to do: docs/operations.md, "${name}".`,
      metric,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: bad,
      evaluationPeriods: seen,
      treatMissingData: props.noData ?? TreatMissingData.NOT_BREACHING,
    });
    for (const action of actions) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
    return alarm;
  };

export type MakeAlarm = ReturnType<typeof alarmMaker>;

const topicOf = (scope: Construct, alarms: NonNullable<Config['alarms']>): ITopic => {
  if ('topicArn' in alarms) return Topic.fromTopicArn(scope, 'AlarmTopic', alarms.topicArn);
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(alarms.email));
  // The rule on TLS gives the topic a policy of its own, and that replaces the one by which alarms of the account may publish.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
};

/** Who is told: the topic of the config, or one made for its address; nobody, where the config says null. */
export const alarmActions = (
  scope: Construct,
  { alarms }: Pick<Config, 'alarms'>,
): readonly IAlarmAction[] => (alarms === null ? [] : [new SnsAction(topicOf(scope, alarms))]);
