import { Duration, type RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { AccountPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

/** The backup beside the table is only the source of the copy: without it, DynamoDB restores any second of the last 35 days. */
const KEPT_IN_OWN_VAULT = Duration.days(7);

/** At a quiet hour in Iran. UTC. */
const SCHEDULES = {
  day: Schedule.cron({ hour: '23', minute: '30' }),
  week: Schedule.cron({ hour: '23', minute: '30', weekDay: 'THU' }),
};

/** What another account needs in order to read what a key encrypts. */
const READ = ['kms:Decrypt', 'kms:DescribeKey', 'kms:CreateGrant'];

interface BackupCopyProps {
  readonly stage: string;
  readonly tableArn: string;
  readonly copy: Exclude<NonNullable<Config['backupCopy']>, 'none'>;
  readonly removalPolicy: RemovalPolicy;
}

/** Adds a plan of AWS Backup, which backs the table up into a vault of the stage and copies each backup to another Region or account. */
export const addBackupCopy = (
  parent: Construct,
  { stage, tableArn, copy, removalPolicy }: BackupCopyProps,
): void => {
  const scope = new Construct(parent, 'BackupCopy');
  const encryptionKey = new Key(scope, 'Key', {
    description: `Buyer Linking (${stage}): encrypts the backups of the table`,
    enableKeyRotation: true,
    removalPolicy,
  });
  const [, , , , account = ''] = copy.vaultArn.split(':');
  if (account !== Stack.of(parent).account) {
    // "You must share this customer managed key with the destination account" (AWS Backup, Creating backup copies across accounts).
    encryptionKey.grant(new AccountPrincipal(account), ...READ);
  }
  const vault = new BackupVault(scope, 'Vault', { encryptionKey, removalPolicy });
  const rule = new BackupPlanRule({
    backupVault: vault,
    scheduleExpression: SCHEDULES[copy.every],
    deleteAfter: KEPT_IN_OWN_VAULT,
    copyActions: [
      {
        destinationBackupVault: BackupVault.fromBackupVaultArn(scope, 'OtherVault', copy.vaultArn),
        deleteAfter: Duration.days(copy.keepDays),
      },
    ],
  });
  // The selection gives it the policy for backups, and none for restores.
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('backup.amazonaws.com') });
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    reason: 'The policy that AWS keeps for the role of AWS Backup: its actions change with that service.',
  });
  const plan = new BackupPlan(scope, 'Plan', { backupPlanRules: [rule] });
  plan.addSelection('Table', { resources: [BackupResource.fromArn(tableArn)], role });
};
