import { Annotations, ArnFormat, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { LoggedMetrics } from './metrics.ts';
import { alarmNamePrefix } from './outputs.ts';
import type { ServiceFunction } from './service-functions.ts';

/** What an alarm says and when it is raised. */
export interface AlarmProps {
  /** The table of docs/operators/alarms.md has a row of this name. */
  readonly name: string;
  /** One sentence: what people cannot do while the alarm lasts. A person on call reads it first. */
  readonly impact: string;
  readonly metric: IMetric;
  /** The alarm is raised at this value and above it. */
  readonly threshold: number;
  /**
   * [n, m]: n of the last m periods must reach the threshold. The default is [1, 2]: the metrics of the log arrive late, so the latest period is
   * never complete.
   */
  readonly periods?: readonly [number, number];
  /** How missing data is treated: as not breaching by default. */
  readonly missingData?: TreatMissingData;
}

const topicOf = (scope: Construct, receiver: NonNullable<Config['alarms']>): ITopic => {
  if ('topicArn' in receiver) return Topic.fromTopicArn(scope, 'AlarmTopic', receiver.topicArn);
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(receiver.email));
  // enforceSSL adds a topic policy, which replaces the default policy that lets the account's alarms publish.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
};

/** The message about an end. Its fields are those of the message that CloudWatch sends for an alarm. */
const END = RuleTargetInput.fromObject({
  AlarmName: EventField.fromPath('$.detail.alarmName'),
  AlarmDescription: EventField.fromPath('$.detail.configuration.description'),
  AWSAccountId: EventField.account,
  Region: EventField.region,
  StateChangeTime: EventField.time,
  NewStateValue: EventField.fromPath('$.detail.state.value'),
  NewStateReason: EventField.fromPath('$.detail.state.reason'),
  OldStateValue: EventField.fromPath('$.detail.previousState.value'),
});

/**
 * Adds a rule that notifies the topic when an alarm ends. The alarms have no OK action: CloudWatch runs one on every change to OK, so
 * also when a new alarm leaves INSUFFICIENT_DATA, and a first deploy would send a message for each alarm.
 */
const addEnds = (scope: Construct, namePrefix: string, topic: ITopic): void => {
  const prefix = Stack.of(scope).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: namePrefix,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const rule = new Rule(scope, 'AlarmEnds', {
    description: `Notifies when an alarm ${namePrefix}… ends`,
    eventPattern: {
      source: ['aws.cloudwatch'],
      detailType: ['CloudWatch Alarm State Change'],
      // The type of CDK has no prefix match.
      resources: [{ prefix }] as unknown as string[],
      detail: {
        state: { value: ['OK'] },
        previousState: { value: ['ALARM'] },
      },
    },
    targets: [new SnsTopic(topic, { message: END })],
  });
  Annotations.of(rule).acknowledgeWarning(
    '@aws-cdk/aws-events:ruleUnresolvedEnvironment',
    'The topic is in the account and Region of the stage.',
  );
};

/**
 * Adds the alarms of a stage with its name prefix and receiver, and a rule that notifies when one ends. Returns undefined, and adds none, if nobody
 * receives them: such an alarm costs as much as any other.
 */
export const addAlarms = (
  scope: Construct,
  { stage, alarms: receiver }: Pick<Config, 'stage' | 'alarms'>,
  all: readonly AlarmProps[],
): { readonly alarms: readonly Alarm[]; readonly topicArn: string } | undefined => {
  if (receiver === null) return undefined;
  const namePrefix = alarmNamePrefix(stage);
  const topic = topicOf(scope, receiver);
  addEnds(scope, namePrefix, topic);
  const alarms = all.map(
    ({ name, impact, metric, threshold, periods: [breaching, evaluated] = [1, 2], missingData }) => {
      const alarm = new Alarm(scope, `Alarm-${name}`, {
        alarmName: `${namePrefix}${name}`,
        alarmDescription: `${impact} What to do: docs/operators/alarms.md.`,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        datapointsToAlarm: breaching,
        evaluationPeriods: evaluated,
        treatMissingData: missingData ?? TreatMissingData.NOT_BREACHING,
      });
      alarm.addAlarmAction(new SnsAction(topic));
      return alarm;
    },
  );
  return { alarms, topicArn: topic.topicArn };
};

/** What the alarms and the dashboard of a stage watch. */
export interface MonitoredService {
  readonly config: Config;
  readonly metrics: LoggedMetrics;
  readonly api: RestApi;
  readonly table: ITableV2;
  readonly functions: readonly ServiceFunction[];
}
