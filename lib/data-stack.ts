import { type App, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  type ITableV2,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { addBackupCopy } from './backup-copy.ts';
import { accountAndRegionOf, type Config } from './config.ts';
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

/** What the parts of the stack have in common. */
interface Kept {
  readonly config: Config;
  /** Of what is lost with the stack otherwise. `retain` deletes what a failed first deploy made: nothing is in it. */
  readonly removalPolicy: RemovalPolicy;
  /** The key of `customer-managed-key`. */
  readonly key: Key | undefined;
}

/** Adds the table. The policy and the settings of a restored one are set by hand: docs/operators/operations.md, "Restore the table". */
const addTable = (scope: Stack, { config, removalPolicy, key }: Kept): TableV2 => {
  const table = new TableV2(scope, 'Table', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    sortKey: { name: 'sk', type: AttributeType.STRING },
    timeToLiveAttribute: 'ttl',
    billing: Billing.onDemand(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 },
    deletionProtection: config.removal === 'retain',
    removalPolicy,
    resourcePolicy: new PolicyDocument({ statements: [noReadsForCdkLookups(scope)] }),
    // Said, not left out: CloudFormation may leave the encryption of a table as it is when the property goes away (aws-cdk issue 8286).
    encryption: TableEncryptionV2.dynamoOwnedKey(),
  });
  if (key) {
    // TableV2 accepts a key only in a stack with a fixed Region.
    const resource = table.node.defaultChild as CfnGlobalTable;
    resource.addPropertyOverride('SSESpecification', { SSEEnabled: true, SSEType: 'KMS' });
    resource.addPropertyOverride('Replicas.0.SSESpecification', { KMSMasterKeyId: key.keyArn });
  }
  return table;
};

/** Adds a key that signs access tokens for each label, in their order. */
const addSigningKeys = (
  scope: Construct,
  labels: readonly string[],
  { config: { stage }, removalPolicy }: Kept,
): readonly Key[] =>
  labels.map(
    (label) =>
      new Key(scope, `SigningKey-${label}`, {
        description: `Buyer Linking (${stage}): signs access tokens, ${label}`,
        keySpec: KeySpec.ECC_NIST_P256,
        keyUsage: KeyUsage.SIGN_VERIFY,
        pendingWindow: KEY_WAITING_PERIOD,
        removalPolicy,
      }),
  );

const addHashSecret = (scope: Construct, { config, removalPolicy, key }: Kept): Secret => {
  const secret = new Secret(scope, 'HashSecret', {
    ...(key && { encryptionKey: key }),
    description: `Buyer Linking (${config.stage}): the hash secret. Change it only as docs/operators/operations.md describes.`,
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
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'The keyed hashes in the table depend on this key, so a rotation must keep the old key beside the new one. A person does it, ' +
      'as docs/operators/operations.md describes.',
  });
  return secret;
};

/** The stack of what must be kept: the table, the keys that sign access tokens and the hash secret. */
export class DataStack extends Stack {
  /** The table in use: that of the stack, or the restored one that the config names in its place. */
  readonly table: ITableV2;
  /** The tables that functions may use: that in use, and that of the stack. */
  readonly tables: readonly ITableV2[];
  /** The keys that sign or are published, in the order of the config. */
  readonly signingKeys: readonly Key[];
  /** The keys that only code of the release before still uses. */
  readonly retiredSigningKeys: readonly Key[];
  readonly hashSecret: Secret;
  /** The key of `customer-managed-key`, as log groups and secrets take it; empty with the keys of AWS. */
  readonly encryption: { readonly encryptionKey?: Key };

  constructor(app: App, config: Config) {
    const { stage, removal, encryption, backupCopy } = config;
    const isKept = removal === 'retain';
    super(app, dataStackName(stage), {
      env: accountAndRegionOf(config),
      description: `Buyer Linking (${stage}): table, signing keys and hash secret`,
      terminationProtection: isKept,
    });
    const removalPolicy = isKept ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    const key = encryption === 'customer-managed-key' ? encryptionKey(this, stage, removalPolicy) : undefined;
    const kept = { config, removalPolicy, key };
    this.encryption = key ? { encryptionKey: key } : {};

    const own = addTable(this, kept);
    // Also while no function has it as its variable: no order of deploys then drops an export in use.
    this.exportValue(own.tableName);
    this.table = config.table === null ? own : TableV2.fromTableName(this, 'RestoredTable', config.table);
    // A role changes before its function: the version in service uses the stack's own table until the deploy of a restored one has passed.
    this.tables = config.table === null ? [own] : [this.table, own];
    this.signingKeys = addSigningKeys(this, config.signingKeys, kept);
    this.retiredSigningKeys = addSigningKeys(this, config.retiredSigningKeys, kept);
    this.hashSecret = addHashSecret(this, kept);
    if (backupCopy !== null && backupCopy !== 'none') {
      addBackupCopy(this, { stage, removalPolicy, tableArn: this.table.tableArn, copy: backupCopy });
    }
  }
}
