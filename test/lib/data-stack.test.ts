import { readFileSync } from 'node:fs';
import {
  COMPLETE,
  EVERY_OPTION,
  ON_RESTORED_TABLE,
  resourcesOf,
  stageApp,
  stageConfig,
  templatesOf,
} from './synthesized.ts';

const devStacks = templatesOf('dev');
const dev = devStacks.data;
const prod = templatesOf('prod', COMPLETE).data;
const every = templatesOf('prod', EVERY_OPTION);

const KEPT = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SecretsManager::Secret'];

describe('the data stack', () => {
  test.each(KEPT)(
    'keeps the %s of prod when the stack is deleted but not when the first deploy fails, and deletes that of dev',
    (type) => {
      expect(Object.values(resourcesOf(prod, type)).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual([
        'RetainExceptOnCreate',
      ]);
      expect(Object.values(resourcesOf(dev, type)).map(({ DeletionPolicy }) => DeletionPolicy)).toEqual([
        'Delete',
      ]);
    },
  );

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

  test('denies the same to a restored table by the policy of docs/operators/operations.md, since a restore does not copy it', () => {
    const page = readFileSync(new URL('../../docs/operators/operations.md', import.meta.url), 'utf8');
    const [, policy = ''] = /^aws dynamodb put-resource-policy .* --policy '(.+)'$/m.exec(page) ?? [];
    const [table] = Object.values(resourcesOf(prod, 'AWS::DynamoDB::GlobalTable'));
    const stacks = JSON.stringify(table?.Properties.Replicas[0].ResourcePolicy.PolicyDocument).replaceAll(
      /\{"Fn::Join":\["",\["arn:",\{"Ref":"AWS::Partition"\},":iam::",\{"Ref":"AWS::AccountId"\},"(.+?)"\]\]\}/g,
      '"arn:aws:iam::<account>$1"',
    );
    expect(JSON.parse(policy)).toEqual(JSON.parse(stacks));
  });

  test('and the API stack are protected from deletion in prod, and a stage that is destroyed is not', () => {
    const protection = [stageConfig('prod'), stageConfig('dev')].map((config) => {
      const { data, api } = stageApp(config);
      return [data.terminationProtection, api.terminationProtection];
    });
    expect(protection).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('protects the table of prod from deletion', () => {
    const [table] = Object.values(resourcesOf(prod, 'AWS::DynamoDB::GlobalTable'));
    expect(table?.Properties.Replicas[0].DeletionProtectionEnabled).toBe(true);
  });

  test.each([
    ['dev', dev],
    ['prod', prod],
  ] as const)(
    'gives the table of %s on-demand billing, expiry by "ttl" and point-in-time recovery of 35 days',
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
      expect(table?.Properties.Replicas[0].PointInTimeRecoverySpecification).toEqual({
        PointInTimeRecoveryEnabled: true,
        RecoveryPeriodInDays: 35,
      });
    },
  );

  test('has a signing key for P-256 signatures only', () => {
    const [key] = Object.values(resourcesOf(prod, 'AWS::KMS::Key'));
    expect(key?.Properties).toMatchObject({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' });
  });

  test('adds a key for each published label and for each retired one, and publishes only the published ones', () => {
    const text = JSON.stringify(Object.values(resourcesOf(every.api, 'AWS::Lambda::Function')));
    expect(
      Object.keys(resourcesOf(every.data, 'AWS::KMS::Key'))
        .map((id) => id.slice(0, 12))
        .sort(),
    ).toEqual(['BackupCopyKe', 'EncryptionKe', 'SigningKeyk0', 'SigningKeyk1', 'SigningKeyk2']);
    expect(text).toMatch(/"SIGNING_KEYS":[^}]*SigningKeyk2[^}]*},[^}]*SigningKeyk1/);
    expect(text).not.toMatch(/SigningKeyk0/);
  });

  test.each([
    ['dev', dev],
    ['prod', prod],
    ['prod with every option', every.data],
  ] as const)(
    'generates the hash secret of %s by these properties, and any other would replace it',
    (_, template) => {
      const [secret, ...others] = Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret'));
      expect(others).toEqual([]);
      expect(secret?.Properties.GenerateSecretString).toEqual({
        SecretStringTemplate: '{}',
        GenerateStringKey: 'current',
        PasswordLength: 64,
        ExcludePunctuation: true,
      });
      expect(secret?.Properties).not.toHaveProperty('SecretString');
      expect(secret?.Properties).not.toHaveProperty('Name');
    },
  );

  test('replicates the hash secret to a second Region, if the config names one', () => {
    const replicasOf = (template: typeof dev) =>
      Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret'))[0]?.Properties.ReplicaRegions;
    expect([replicasOf(dev), replicasOf(every.data)]).toEqual([undefined, [{ Region: 'eu-west-1' }]]);
  });
});

/** CDK makes the provider of a trigger without tags. */
const CDK_TRIGGER = 'AWSCDKTrigger';

test('every taggable resource has the tags of the project and those of the settings', () => {
  const tagged = [
    ...Object.entries(resourcesOf(every.api, 'AWS::Lambda::Function')),
    ...Object.entries(resourcesOf(every.api, 'AWS::IAM::Role')),
    ...Object.entries(resourcesOf(every.data, 'AWS::KMS::Key')),
  ].filter(([id]) => !id.startsWith(CDK_TRIGGER));
  for (const [, { Properties }] of tagged) {
    expect(Properties.Tags).toEqual(
      expect.arrayContaining([
        { Key: 'cost-center', Value: 'payments' },
        { Key: 'service', Value: 'buyer-linking' },
        { Key: 'stage', Value: 'prod' },
      ]),
    );
  }
});

describe('encryption with a customer-managed key', () => {
  const [keyId, key] =
    Object.entries(resourcesOf(every.data, 'AWS::KMS::Key')).find(([id]) => id.startsWith('EncryptionKey')) ??
    [];
  const reference = { 'Fn::GetAtt': [keyId, 'Arn'] };

  test('encrypts the table, the hash secret and every log group', () => {
    const [table] = Object.values(resourcesOf(every.data, 'AWS::DynamoDB::GlobalTable'));
    expect(table?.Properties).toMatchObject({
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      Replicas: [{ SSESpecification: { KMSMasterKeyId: reference } }],
    });
    const [secret] = Object.values(resourcesOf(every.data, 'AWS::SecretsManager::Secret'));
    expect(secret?.Properties.KmsKeyId).toEqual(reference);
    const groups = Object.values(resourcesOf(every.api, 'AWS::Logs::LogGroup'));
    expect(groups.length).toBeGreaterThan(12);
    for (const { Properties } of groups) {
      expect(Properties.KmsKeyId).toEqual({ 'Fn::ImportValue': expect.stringContaining('EncryptionKey') });
    }
  });

  test('rotates the key, keeps it with the data and lets only services of this account use it', () => {
    expect(key).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { EnableKeyRotation: true },
    });
    const open = key?.Properties.KeyPolicy.Statement.filter(
      ({ Principal }: { Principal: { AWS?: unknown } }) => Principal.AWS === '*',
    );
    expect(open).toHaveLength(1);
    expect(open[0].Condition.StringEquals).toMatchObject({ 'kms:CallerAccount': { Ref: 'AWS::AccountId' } });
    expect(JSON.stringify(open[0].Condition.StringEquals['kms:ViaService'])).toMatch(
      /dynamodb.*secretsmanager/,
    );
  });

  test('adds no key if it is off, and says so for the table, so that a switch back changes a property', () => {
    dev.resourceCountIs('AWS::KMS::Key', 1);
    expect(JSON.stringify(dev.toJSON())).not.toContain('KmsKeyId');
    for (const template of [dev, prod]) {
      const [table] = Object.values(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'));
      expect(table?.Properties.SSESpecification).toEqual({ SSEEnabled: false });
      expect(table?.Properties.Replicas[0]).not.toHaveProperty('SSESpecification');
    }
  });
});

const RESTORED = ON_RESTORED_TABLE.table;
const { vaultArn } = EVERY_OPTION.backupCopy;
const restored = templatesOf('prod', ON_RESTORED_TABLE);

describe('a restored table', () => {
  test('takes the place of the own one in functions, dashboard, output and backup', () => {
    const { 'AWS::IAM::Role': _, ...others } = Object.groupBy(
      Object.values(restored.api.toJSON().Resources as Record<string, { readonly Type: string }>),
      ({ Type }) => Type,
    );
    expect(JSON.stringify(others)).not.toMatch(/ImportValue":"[^"]*Table/);
    restored.api.hasOutput('TableName', { Value: RESTORED });
    const functions = Object.values(resourcesOf(restored.api, 'AWS::Lambda::Function'));
    const names = functions.flatMap(({ Properties }) => Properties.Environment?.Variables?.TABLE_NAME ?? []);
    expect(names.length).toBeGreaterThan(10);
    expect(new Set(names)).toEqual(new Set([RESTORED]));
    expect(JSON.stringify(resourcesOf(restored.api, 'AWS::CloudWatch::Dashboard'))).toContain(RESTORED);
    const [selection] = Object.values(resourcesOf(restored.data, 'AWS::Backup::BackupSelection'));
    expect(JSON.stringify(selection?.Properties.BackupSelection.Resources)).toContain(`:table/${RESTORED}"`);
  });

  test('is granted beside the own table, with the same conditions: roles change before versions, and the version in service uses the own one', () => {
    const onTable = ({ api }: typeof restored): { readonly Resource: unknown }[] =>
      Object.values(resourcesOf(api, 'AWS::IAM::Role'))
        .flatMap(({ Properties }) => Properties.Policies ?? [])
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
        .filter(({ Action }) => String(Action).startsWith('dynamodb:'));
    const own = onTable(every);
    expect(own.length).toBeGreaterThan(20);
    const both = own.map(({ Resource, ...rest }) => ({
      ...rest,
      Resource: [
        Resource,
        { 'Fn::Join': ['', expect.arrayContaining([expect.stringContaining(`:table/${RESTORED}`)])] },
      ],
    }));
    expect(onTable(restored)).toEqual(both);
  });

  test('leaves the own table with its data', () => {
    expect(resourcesOf(restored.data, 'AWS::DynamoDB::GlobalTable')).toEqual(
      resourcesOf(every.data, 'AWS::DynamoDB::GlobalTable'),
    );
  });
});

describe('a copy of the table in another account or Region', () => {
  const planOf = (template: typeof dev) =>
    Object.values(resourcesOf(template, 'AWS::Backup::BackupPlan'))[0]?.Properties.BackupPlan;
  const [vaultId, vault] = Object.entries(resourcesOf(every.data, 'AWS::Backup::BackupVault'))[0] ?? [];

  test('is made each day or each week from a backup in a vault of the stage, and kept there as long as the config says', () => {
    const [rule, ...others] = planOf(every.data).BackupPlanRule;
    expect(others).toEqual([]);
    expect(rule).toMatchObject({
      ScheduleExpression: 'cron(30 23 * * ? *)',
      TargetBackupVault: { 'Fn::GetAtt': [vaultId, 'BackupVaultName'] },
      Lifecycle: { DeleteAfterDays: 7 },
      CopyActions: [{ DestinationBackupVaultArn: vaultArn, Lifecycle: { DeleteAfterDays: 35 } }],
    });
    expect(planOf(restored.data).BackupPlanRule).toMatchObject([
      {
        ScheduleExpression: 'cron(30 23 ? * THU *)',
        CopyActions: [{ Lifecycle: { DeleteAfterDays: 90 } }],
      },
    ]);
  });

  test('selects the table and nothing else', () => {
    const [table] = Object.keys(resourcesOf(every.data, 'AWS::DynamoDB::GlobalTable'));
    const [selection] = Object.values(resourcesOf(every.data, 'AWS::Backup::BackupSelection'));
    expect(selection?.Properties.BackupSelection.Resources).toEqual([{ 'Fn::GetAtt': [table, 'Arn'] }]);
  });

  test('is encrypted in the own vault with a key that the other account may read with, and both are kept with the data', () => {
    const [key] = Object.entries(resourcesOf(every.data, 'AWS::KMS::Key')).filter(([id]) =>
      id.startsWith('BackupCopy'),
    );
    expect(vault).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { EncryptionKeyArn: { 'Fn::GetAtt': [key?.[0], 'Arn'] } },
    });
    expect(key?.[1].DeletionPolicy).toBe('RetainExceptOnCreate');
    const [, foreign, ...others] = key?.[1].Properties.KeyPolicy.Statement ?? [];
    expect(others).toEqual([]);
    expect(JSON.stringify(foreign.Principal)).toContain(':iam::444455556666:root');
    expect(foreign.Action).toEqual(['kms:CreateGrant', 'kms:Decrypt', 'kms:DescribeKey']);
  });

  test('is made of no stage that has none', () => {
    for (const template of [dev, prod]) template.resourceCountIs('AWS::Backup::BackupPlan', 0);
  });
});

test.each([
  ['dev', devStacks],
  ['prod with every option', every],
])('no property names a resource in all Regions of the account, or in all accounts: %s', (_, stacks) => {
  // Buckets, dashboards and what IAM has. A second Region of the account gets a stage of the same name.
  const isGlobal =
    /"(?:BucketName|DashboardName|GroupName|InstanceProfileName|ManagedPolicyName|RoleName|UserName)":/;
  for (const { Resources } of [stacks.api.toJSON(), stacks.data.toJSON()])
    expect(JSON.stringify(Resources)).not.toMatch(isGlobal);
});
