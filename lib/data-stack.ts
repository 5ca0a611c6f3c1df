import { type App, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, type CfnGlobalTable, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { type Config, environmentOf } from './config.ts';
import { dataStackName } from './outputs.ts';

const HASH_KEY_LENGTH = 64;

/** The time in which a deletion of a signing key can be canceled: the minimum of KMS. */
const KEY_WAITING_PERIOD = Duration.days(7);

/**
 * Denies the lookup role of the CDK bootstrap to read items: it has the managed policy ReadOnlyAccess, and a job that only shows a diff
 * may assume it. "An explicit deny in any of the policies overrides the allow" (IAM, Policy evaluation for requests within a single account).
 */
const noReadsForCdkLookups = ({ partition, account }: Stack): PolicyStatement =>
  new PolicyStatement({
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: ['GetItem', 'BatchGetItem', 'Query', 'Scan', 'PartiQLSelect'].map((verb) => `dynamodb:${verb}`),
    // The table that has this policy; its ARN would refer to itself.
    resources: ['*'],
    conditions: {
      ArnLike: { 'aws:PrincipalArn': `arn:${partition}:iam::${account}:role/cdk-*-lookup-role-*` },
    },
  });

const USE = ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'];

/**
 * Adds the key that encrypts the table, the secrets and the logs of a stage. Its policy allows what AWS's own keys of these services
 * allow: whoever may read an item or a secret may use the key through that service. So the roles of the functions stay the same.
 */
const encryptionKey = (scope: Construct, stage: string, removalPolicy: RemovalPolicy): Key => {
  const { account, region, partition } = Stack.of(scope);
  const key = new Key(scope, 'EncryptionKey', {
    alias: `buyer-linking-${stage}`,
    description: `Buyer Linking (${stage}): encrypts the table, the secrets and the logs`,
    enableKeyRotation: true,
    removalPolicy,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: [...USE, 'kms:CreateGrant'],
      resources: ['*'],
      conditions: {
        StringEquals: {
          'kms:CallerAccount': account,
          'kms:ViaService': ['dynamodb', 'secretsmanager'].map(
            (service) => `${service}.${region}.amazonaws.com`,
          ),
        },
      },
    }),
  );
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: USE,
      resources: ['*'],
      conditions: {
        ArnLike: {
          'kms:EncryptionContext:aws:logs:arn': `arn:${partition}:logs:${region}:${account}:log-group:*`,
        },
      },
    }),
  );
  return key;
};

/** The stack of what must be kept: the table, the keys that sign access tokens and the hash secret. */
export class DataStack extends Stack {
  readonly table: TableV2;
  /** The keys that sign or are published, in the order of the config. */
  readonly signingKeys: readonly Key[];
  /** The keys that only code of the release before still uses. */
  readonly retiredSigningKeys: readonly Key[];
  readonly hashSecret: Secret;
  /** The key of `customer-managed-key`, as log groups and secrets take it; empty with the keys of AWS. */
  readonly encryption: { readonly encryptionKey?: Key };

  constructor(app: App, config: Config) {
    const { stage, removal } = config;
    const isKept = removal === 'retain';
    super(app, dataStackName(stage), {
      env: environmentOf(config),
      description: `Buyer Linking (${stage}): table, signing keys and hash secret`,
      terminationProtection: isKept,
    });
    const removalPolicy = isKept ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    const key =
      config.encryption === 'customer-managed-key' ? encryptionKey(this, stage, removalPolicy) : undefined;
    this.encryption = key ? { encryptionKey: key } : {};

    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      timeToLiveAttribute: 'ttl',
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
      deletionProtection: isKept,
      removalPolicy,
      resourcePolicy: new PolicyDocument({ statements: [noReadsForCdkLookups(this)] }),
    });
    if (key) {
      // TableV2 accepts a key only in a stack with a fixed Region.
      const table = this.table.node.defaultChild as CfnGlobalTable;
      table.addPropertyOverride('SSESpecification', { SSEEnabled: true, SSEType: 'KMS' });
      table.addPropertyOverride('Replicas.0.SSESpecification', { KMSMasterKeyId: key.keyArn });
    }

    const signingKey = (label: string): Key =>
      new Key(this, `SigningKey-${label}`, {
        description: `Buyer Linking (${stage}): signs access tokens, ${label}`,
        keySpec: KeySpec.ECC_NIST_P256,
        keyUsage: KeyUsage.SIGN_VERIFY,
        pendingWindow: KEY_WAITING_PERIOD,
        removalPolicy,
      });
    this.signingKeys = config.signingKeys.map(signingKey);
    this.retiredSigningKeys = config.retiredSigningKeys.map(signingKey);

    this.hashSecret = new Secret(this, 'HashSecret', {
      ...this.encryption,
      description: `Buyer Linking (${stage}): the hash secret. Change it only as docs/operations.md describes.`,
      // The form that shared/secrets/keyed-hashes.ts reads: { "current": "…" }. Never change a property: CloudFormation would generate a new secret,
      // and no stored hash would be found any more. data-stack.test.ts freezes them.
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'current',
        passwordLength: HASH_KEY_LENGTH,
        excludePunctuation: true,
      },
      ...(config.hashSecretReplica !== null && { replicaRegions: [{ region: config.hashSecretReplica }] }),
      removalPolicy,
    });
    Validations.of(this.hashSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The keyed hashes in the table depend on this key, so a rotation must keep the old key beside the new one. A person does it, ' +
        'as docs/operations.md describes.',
    });
  }
}
