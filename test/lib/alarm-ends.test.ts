import { STAGES } from '#lib/stages.ts';
import { allRoutes } from '#shared/routes.ts';
import { resourcesOf, templatesOf } from './synthesized.ts';

const alarms = { email: 'on-call@example.com' };
const minorAlarms = { topicArn: 'arn:aws:sns:eu-central-1:123456789012:team' };

/** The names of the alarms that can wait until the morning. */
const MINOR = [
  ...[...allRoutes.map(({ name }) => name), 'authorizer'].map((name) => `${name}-slow`),
  ...[...STAGES.prod.providers.identityRegistry, ...STAGES.prod.providers.sms].flatMap((provider) => [
    `circuit-open-${provider}`,
    `unreadable-responses-${provider}`,
  ]),
  'slow-responses',
  'rate-limiter-unreachable',
  'firewall-blocks',
  'key-limit-used-up',
].map((name) => `buyer-linking-prod-${name}`);

const rulesOf = ({ api }: ReturnType<typeof templatesOf>) =>
  Object.values(resourcesOf(api, 'AWS::Events::Rule'))
    .map(({ Properties }) => Properties)
    .filter(({ EventPattern }) => EventPattern !== undefined);

const one = templatesOf('prod', { alarms });
const two = templatesOf('prod', { alarms, minorAlarms });

describe('the ends of alarms', () => {
  test('notify the topic of a stage once for each alarm that was raised before', () => {
    const [topic] = Object.keys(resourcesOf(one.api, 'AWS::SNS::Topic'));
    const rules = rulesOf(one);
    expect(rules).toHaveLength(1);
    expect(rules[0].EventPattern).toEqual({
      source: ['aws.cloudwatch'],
      'detail-type': ['CloudWatch Alarm State Change'],
      resources: [
        {
          prefix: {
            'Fn::Join': [
              '',
              [
                'arn:',
                { Ref: 'AWS::Partition' },
                ':cloudwatch:',
                { Ref: 'AWS::Region' },
                ':',
                { Ref: 'AWS::AccountId' },
                ':alarm:buyer-linking-prod-',
              ],
            ],
          },
        },
      ],
      detail: { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } },
    });
    expect(rules[0].Targets).toMatchObject([{ Arn: { Ref: topic } }]);
  });

  test('have the fields of the message that CloudWatch sends for an alarm', () => {
    const { InputPathsMap, InputTemplate } = rulesOf(one)[0].Targets[0].InputTransformer;
    expect(Object.keys(JSON.parse(InputTemplate.replaceAll(/<[\w-]+>/g, '0')))).toEqual([
      'AlarmName',
      'AlarmDescription',
      'AWSAccountId',
      'Region',
      'StateChangeTime',
      'NewStateValue',
      'NewStateReason',
      'OldStateValue',
    ]);
    expect(Object.values(InputPathsMap)).toContain('$.detail.alarmName');
  });

  test('of the alarms that can wait notify minorAlarms, and all others notify alarms', () => {
    const [topic] = Object.keys(resourcesOf(two.api, 'AWS::SNS::Topic'));
    const receivers = Object.values(resourcesOf(two.api, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => [
      Properties.AlarmName,
      Properties.AlarmActions,
    ]);
    const ofMinor = receivers.filter(([, [action]]) => action === minorAlarms.topicArn);
    expect(ofMinor.map(([name]) => name).sort()).toEqual(MINOR.toSorted());
    const ofOthers = receivers.filter(([, [action]]) => action !== minorAlarms.topicArn);
    expect(ofOthers.length).toBeGreaterThan(MINOR.length);
    for (const [, actions] of ofOthers) expect(actions).toEqual([{ Ref: topic }]);

    const names = rulesOf(two).map(({ EventPattern, Targets }) => [
      EventPattern.detail.alarmName,
      Targets[0].Arn,
    ]);
    expect(names).toHaveLength(2);
    const sorted = expect.arrayContaining(MINOR);
    expect(names).toContainEqual([[{ 'anything-but': sorted }], { Ref: topic }]);
    expect(names).toContainEqual([sorted, minorAlarms.topicArn]);
  });

  test('fit into the 2,048 characters that EventBridge allows for a pattern', () => {
    for (const { EventPattern } of rulesOf(two)) {
      expect(JSON.stringify(EventPattern).length).toBeLessThan(2048);
    }
  });

  test('are not watched in a stage whose alarms have no receiver', () => {
    expect(rulesOf(templatesOf('dev'))).toEqual([]);
  });
});
