import { Annotations, ArnFormat, Stack } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/** The topics of a stage's alarms: of those that wake somebody, and of those that can wait. Both may be one topic. */
export type AlarmTopics = Readonly<Record<'urgent' | 'can-wait', ITopic>>;

interface NamedAlarms {
  /** The beginning of the names of all alarms of the stage. */
  readonly namePrefix: string;
  /** The names of the alarms that can wait. */
  readonly minorNames: readonly string[];
  readonly topics: AlarmTopics;
}

/** The message about an end. Its fields are those of the message that CloudWatch sends for an alarm. */
const message = RuleTargetInput.fromObject({
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
 * Adds rules that notify the topics when an alarm ends. The alarms have no OK action: CloudWatch runs one on every change to OK, so
 * also when a new alarm leaves INSUFFICIENT_DATA, and a first deploy would send a message for each alarm.
 */
export const addAlarmEnds = (scope: Construct, { namePrefix, minorNames, topics }: NamedAlarms): void => {
  const prefix = Stack.of(scope).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: namePrefix,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const addRule = (id: string, topic: ITopic, alarmName?: readonly unknown[]): void => {
    const rule = new Rule(scope, id, {
      description: `Notifies when an alarm ${namePrefix}… ends`,
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        // The type of CDK has no prefix match.
        resources: [{ prefix }] as unknown as string[],
        detail: { state: { value: ['OK'] }, previousState: { value: ['ALARM'] }, alarmName },
      },
      targets: [new SnsTopic(topic, { message })],
    });
    Annotations.of(rule).acknowledgeWarning(
      '@aws-cdk/aws-events:ruleUnresolvedEnvironment',
      'The topics are in the account and Region of the stage.',
    );
  };
  if (topics.urgent === topics['can-wait']) {
    addRule('AlarmEnds', topics.urgent);
  } else {
    addRule('AlarmEnds', topics.urgent, [{ 'anything-but': minorNames }]);
    addRule('MinorAlarmEnds', topics['can-wait'], minorNames);
  }
};
