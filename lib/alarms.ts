import { Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { type AlarmTopics, addAlarmEnds } from './alarm-ends.ts';
import type { Config } from './config.ts';
import { loggedMetrics } from './metrics.ts';
import { alarmNamePrefix } from './outputs.ts';

/** What an alarm says and when it is raised. */
export interface AlarmProps {
  /** docs/operations.md has a section of this name, unless `section` names another one. */
  readonly name: string;
  /** The section for alarms of one kind: `<operation>-failing`. */
  readonly section?: string;
  /** The version that the alarm is about. Each version has an alarm of its own, because a changed alarm keeps its state at first. */
  readonly version?: string;
  /** One sentence: what people cannot do while the alarm lasts. A person on call reads it first. */
  readonly impact: string;
  readonly metric: IMetric;
  /** The alarm is raised at this value and above it. */
  readonly threshold: number;
  /** [n, m]: n of the last m periods must reach the threshold. The default is [1, 1]. */
  readonly periods?: readonly [number, number];
  /** How missing data is treated: as not breaching by default. */
  readonly missingData?: TreatMissingData;
  /** `can-wait`: nobody has to be woken; `minorAlarms` receives it. The default is `urgent`. */
  readonly urgency?: keyof AlarmTopics;
}

type Receiver = NonNullable<Config['alarms']>;

/** Returns where a section of the runbook is: a link in the form of GitHub and GitLab, or the file and the title. */
const runbookSection = (runbookUrl: string | null, title: string): string =>
  runbookUrl === null
    ? `docs/operations.md, "${title}".`
    : `${runbookUrl}#${title.toLowerCase().replaceAll(/[^\w-]/g, '')}`;

const topicOf = (scope: Construct, id: string, receiver: Receiver): ITopic => {
  if ('topicArn' in receiver) return Topic.fromTopicArn(scope, id, receiver.topicArn);
  const topic = new Topic(scope, id, { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(receiver.email));
  // enforceSSL adds a topic policy, which replaces the default policy that lets the account's alarms publish.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
};

/** Returns the topic of each urgency: one topic for both, unless `minorAlarms` is set. */
const topicsOf = (scope: Construct, { alarms, minorAlarms }: Config): AlarmTopics | undefined => {
  if (alarms === null) return undefined;
  const urgent = topicOf(scope, 'AlarmTopic', alarms);
  return {
    urgent,
    'can-wait': minorAlarms === null ? urgent : topicOf(scope, 'MinorAlarmTopic', minorAlarms),
  };
};

/** Returns the metrics of a stage, and functions that add an alarm with the stage's name prefix and receivers. */
export const monitoringOf = (scope: Construct, config: Config) => {
  const { stage, runbookUrl } = config;
  const topics = topicsOf(scope, config);
  const minorNames: string[] = [];
  return {
    metrics: loggedMetrics(stage),

    addAlarm(parent: Construct, props: AlarmProps): Alarm {
      const { name, impact, metric, threshold, periods: [breaching, evaluated] = [1, 1] } = props;
      const { urgency = 'urgent' } = props;
      const version = props.version === undefined ? '' : `-${props.version}`;
      const alarmName = `${alarmNamePrefix(stage)}${name}${version}`;
      const alarm = new Alarm(parent, `Alarm-${name}`, {
        alarmName,
        alarmDescription: `${impact} What to do: ${runbookSection(runbookUrl, props.section ?? name)}`,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        datapointsToAlarm: breaching,
        evaluationPeriods: evaluated,
        treatMissingData: props.missingData ?? TreatMissingData.NOT_BREACHING,
      });
      if (topics) alarm.addAlarmAction(new SnsAction(topics[urgency]));
      if (urgency === 'can-wait') minorNames.push(alarmName);
      return alarm;
    },

    /** Notifies the receivers when an alarm ends. Call it after the last `addAlarm`. */
    addEnds(): void {
      if (topics) addAlarmEnds(scope, { namePrefix: alarmNamePrefix(stage), topics, minorNames });
    },
  };
};

export type Monitoring = ReturnType<typeof monitoringOf>;
