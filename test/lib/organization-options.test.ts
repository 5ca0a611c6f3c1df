import { resourcesOf, templatesOf } from './synthesized.ts';

const email = 'on-call@example.com';
const boundary = 'arn:aws:iam::123456789012:policy/boundary';

const dev = templatesOf('dev');
const bounded = templatesOf('prod', { permissionsBoundary: boundary, tags: { 'cost-center': 'payments' } });
const encrypted = templatesOf('prod', { encryption: 'customer-managed-key' });

describe('permissionsBoundary', () => {
  test('bounds every role of the stage', () => {
    const roles = [bounded.api, bounded.data].flatMap((template) =>
      Object.values(resourcesOf(template, 'AWS::IAM::Role')),
    );
    expect(roles.length).toBeGreaterThan(12);
    expect(new Set(roles.map(({ Properties }) => Properties.PermissionsBoundary))).toEqual(
      new Set([boundary]),
    );
  });

  test('bounds no role if it is null', () => {
    expect(JSON.stringify(dev.api.toJSON())).not.toContain('PermissionsBoundary');
  });
});

describe('tags', () => {
  test('are on the functions, the roles and the signing key, beside those of the project', () => {
    const tagged = [
      ...Object.values(resourcesOf(bounded.api, 'AWS::Lambda::Function')),
      ...Object.values(resourcesOf(bounded.api, 'AWS::IAM::Role')),
      ...Object.values(resourcesOf(bounded.data, 'AWS::KMS::Key')),
    ];
    for (const { Properties } of tagged) {
      expect(Properties.Tags).toEqual(
        expect.arrayContaining([
          { Key: 'cost-center', Value: 'payments' },
          { Key: 'service', Value: 'buyer-linking' },
          { Key: 'stage', Value: 'prod' },
        ]),
      );
    }
  });
});

describe('encryption with a customer-managed key', () => {
  const [keyId, key] =
    Object.entries(resourcesOf(encrypted.data, 'AWS::KMS::Key')).find(([id]) =>
      id.startsWith('EncryptionKey'),
    ) ?? [];
  const reference = { 'Fn::GetAtt': [keyId, 'Arn'] };

  test('encrypts the table and the hash secret', () => {
    const [table] = Object.values(resourcesOf(encrypted.data, 'AWS::DynamoDB::GlobalTable'));
    expect(table?.Properties).toMatchObject({
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      Replicas: [{ SSESpecification: { KMSMasterKeyId: reference } }],
    });
    const [secret] = Object.values(resourcesOf(encrypted.data, 'AWS::SecretsManager::Secret'));
    expect(secret?.Properties.KmsKeyId).toEqual(reference);
  });

  test('encrypts every log group', () => {
    const groups = Object.values(resourcesOf(encrypted.api, 'AWS::Logs::LogGroup'));
    expect(groups.length).toBeGreaterThan(12);
    for (const { Properties } of groups) {
      expect(Properties.KmsKeyId).toEqual({ 'Fn::ImportValue': expect.stringContaining('EncryptionKey') });
    }
  });

  test('rotates the key, keeps it with the data and lets only services of this account use it', () => {
    expect(key).toMatchObject({ DeletionPolicy: 'Retain', Properties: { EnableKeyRotation: true } });
    const open = key?.Properties.KeyPolicy.Statement.filter(
      ({ Principal }: { Principal: { AWS?: unknown } }) => Principal.AWS === '*',
    );
    expect(open).toHaveLength(1);
    expect(open[0].Condition.StringEquals).toMatchObject({ 'kms:CallerAccount': { Ref: 'AWS::AccountId' } });
    expect(JSON.stringify(open[0].Condition.StringEquals['kms:ViaService'])).toMatch(
      /dynamodb.*secretsmanager/,
    );
  });

  test('adds no key if it is off', () => {
    dev.data.resourceCountIs('AWS::KMS::Key', 1);
    expect(JSON.stringify([dev.api.toJSON(), dev.data.toJSON()])).not.toMatch(/KmsKeyId|SSESpecification/);
  });
});

describe('pointInTimeRecoveryDays', () => {
  test('sets the days to which the table can be restored', () => {
    const [table] = Object.values(
      resourcesOf(templatesOf('dev', { pointInTimeRecoveryDays: 7 }).data, 'AWS::DynamoDB::GlobalTable'),
    );
    expect(table?.Properties.Replicas[0].PointInTimeRecoverySpecification).toEqual({
      PointInTimeRecoveryEnabled: true,
      RecoveryPeriodInDays: 7,
    });
  });
});

describe('budget', () => {
  const topicArn = 'arn:aws:sns:eu-central-1:123456789012:on-call';

  test.each([
    ['the e-mail address', { email }, { Address: email, SubscriptionType: 'EMAIL' }],
    ['the topic', { topicArn }, { Address: topicArn, SubscriptionType: 'SNS' }],
  ])('notifies %s of the alarms at 80 %% and when more than 100 %% is forecast', (_, alarms, subscriber) => {
    const { api } = templatesOf('prod', { alarms, budget: { usdPerMonth: 500 } });
    const [budget] = Object.values(resourcesOf(api, 'AWS::Budgets::Budget'));
    expect(budget?.Properties.Budget.BudgetLimit).toEqual({ Amount: 500, Unit: 'USD' });
    expect(JSON.stringify(budget?.Properties.Budget.FilterExpression)).toMatch(/"service".*"stage".*"prod"/);
    const notifications: { Notification: object; Subscribers: object[] }[] =
      budget?.Properties.NotificationsWithSubscribers;
    expect(notifications.map(({ Notification }) => Notification)).toMatchObject([
      { NotificationType: 'ACTUAL', Threshold: 80 },
      { NotificationType: 'FORECASTED', Threshold: 100 },
    ]);
    for (const { Subscribers } of notifications) expect(Subscribers).toEqual([subscriber]);
  });
});

describe('tableTrail', () => {
  test('records every read of the table and nothing else, in a private bucket that is kept', () => {
    const { data } = templatesOf('dev', { tableTrail: true });
    const [table] = Object.keys(resourcesOf(data, 'AWS::DynamoDB::GlobalTable'));
    const [trail] = Object.values(resourcesOf(data, 'AWS::CloudTrail::Trail'));
    expect(trail?.Properties).toMatchObject({ IsLogging: true, EnableLogFileValidation: true });
    expect(trail?.Properties.EventSelectors).toBeUndefined();
    expect(trail?.Properties.AdvancedEventSelectors[0].FieldSelectors).toEqual([
      { Field: 'eventCategory', Equals: ['Data'] },
      { Field: 'resources.type', Equals: ['AWS::DynamoDB::Table'] },
      { Field: 'resources.ARN', Equals: [{ 'Fn::GetAtt': [table, 'Arn'] }] },
      { Field: 'readOnly', Equals: ['true'] },
    ]);
    const [bucket] = Object.values(resourcesOf(data, 'AWS::S3::Bucket'));
    expect(bucket?.DeletionPolicy).toBe('Retain');
    expect(Object.values(bucket?.Properties.PublicAccessBlockConfiguration)).toEqual(Array(4).fill(true));
  });

  test('is in no stage that does not turn it on', () => {
    dev.data.resourceCountIs('AWS::CloudTrail::Trail', 0);
  });
});
