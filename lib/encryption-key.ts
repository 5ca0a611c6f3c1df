import { type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AnyPrincipal, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

const USE = ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*', 'kms:DescribeKey'];

/**
 * Adds the key that encrypts the table, the secrets and the logs of a stage. Its policy allows what AWS's own keys of these services
 * allow: whoever may read an item or a secret may use the key through that service. So the roles of the functions stay the same.
 */
export const encryptionKey = (scope: Construct, stage: string, removalPolicy: RemovalPolicy): Key => {
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
