import { Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
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
}

/** Returns where a section of the runbook is: a link in the form of GitHub and GitLab, or the file and the title. */
const runbookSection = (runbookUrl: string | null, title: string): string =>
  runbookUrl === null
    ? `docs/operations.md, "${title}".`
    : `${runbookUrl}#${title.toLowerCase().replaceAll(/[^\w-]/g, '')}`;

const topicOf = (scope: Construct, alarms: NonNullable<Config['alarms']>): ITopic => {
  if ('topicArn' in alarms) return Topic.fromTopicArn(scope, 'AlarmTopic', alarms.topicArn);
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true });
  topic.addSubscription(new EmailSubscription(alarms.email));
  // enforceSSL adds a topic policy, which replaces the default policy that lets the account's alarms publish.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
};

/** Returns the metrics of a stage, and a function that adds an alarm with the stage's name prefix and receivers. */
export const monitoringOf = (scope: Construct, { stage, alarms, runbookUrl }: Config) => {
  const action = alarms === null ? undefined : new SnsAction(topicOf(scope, alarms));
  return {
    metrics: loggedMetrics(stage),

    addAlarm(parent: Construct, props: AlarmProps): Alarm {
      const { name, impact, metric, threshold, periods: [breaching, evaluated] = [1, 1] } = props;
      const version = props.version === undefined ? '' : `-${props.version}`;
      const alarm = new Alarm(parent, `Alarm-${name}`, {
        alarmName: `${alarmNamePrefix(stage)}${name}${version}`,
        alarmDescription: `${impact} What to do: ${runbookSection(runbookUrl, props.section ?? name)}`,
        metric,
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        datapointsToAlarm: breaching,
        evaluationPeriods: evaluated,
        treatMissingData: props.missingData ?? TreatMissingData.NOT_BREACHING,
      });
      if (action) {
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
      }
      return alarm;
    },
  };
};

export type Monitoring = ReturnType<typeof monitoringOf>;
