import { resourcesOf, templatesOf } from './synthesized.ts';

const dev = templatesOf('dev').data;
const prod = templatesOf('prod', { alarms: { email: 'on-call@example.com' } }).data;

const KEPT = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'];

describe('the data stack', () => {
  test.each(KEPT)('keeps the %s of prod when the stack is deleted, and deletes that of dev', (type) => {
    expect(Object.values(resourcesOf(prod, type)).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual([
      'Retain',
    ]);
    expect(Object.values(resourcesOf(dev, type)).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual([
      'Delete',
    ]);
  });

  test.each([
    ['dev', dev],
    ['prod', prod],
  ] as const)('denies the lookup role of CDK every read of the items of %s', (_, template) => {
    const [table] = Object.values(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'));
    const Statement = table?.Properties.Replicas[0].ResourcePolicy.PolicyDocument.Statement;
    expect(Statement).toEqual([
      {
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: [
          'dynamodb:BatchGetItem',
          'dynamodb:GetItem',
          'dynamodb:PartiQLSelect',
          'dynamodb:Query',
          'dynamodb:Scan',
        ],
        Resource: '*',
        Condition: { ArnLike: { 'aws:PrincipalArn': expect.anything() } },
      },
    ]);
    expect(JSON.stringify(Statement)).toContain(':role/cdk-*-lookup-role-*');
  });

  test('protects the table of prod from deletion', () => {
    const [table] = Object.values(resourcesOf(prod, 'AWS::DynamoDB::GlobalTable'));
    expect(table?.Properties.Replicas[0].DeletionProtectionEnabled).toBe(true);
  });

  test.each([
    ['dev', dev],
    ['prod', prod],
  ] as const)(
    'gives the table of %s on-demand billing, expiry by "ttl" and point-in-time recovery',
    (_, template) => {
      const [table] = Object.values(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'));
      expect(table?.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      });
      expect(table?.Properties.Replicas[0].PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(
        true,
      );
    },
  );

  test('has a signing key for P-256 signatures only', () => {
    const [key] = Object.values(resourcesOf(prod, 'AWS::KMS::Key'));
    expect(key?.Properties).toMatchObject({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' });
  });

  test('adds a key for each published label and for each retired one, and publishes only the published ones', () => {
    const { api, data } = templatesOf('dev', { signingKeys: ['k2', 'k1'], retiredSigningKeys: ['k0'] });
    data.resourceCountIs('AWS::KMS::Key', 3);
    const text = JSON.stringify(Object.values(resourcesOf(api, 'AWS::Lambda::Function')));
    expect(text).toMatch(/"SIGNING_KEYS":[^}]*SigningKeyk2[^}]*},[^}]*SigningKeyk1/);
    expect(text).not.toMatch(/SigningKeyk0/);
  });

  test('replicates the hash secret to a second Region, if the config names one', () => {
    const replicasOf = (template: typeof dev) =>
      Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret'))[0]?.Properties.ReplicaRegions;
    expect(replicasOf(dev)).toBeUndefined();
    expect(replicasOf(templatesOf('dev', { hashSecretReplica: 'eu-west-1' }).data)).toEqual([
      { Region: 'eu-west-1' },
    ]);
  });
});
