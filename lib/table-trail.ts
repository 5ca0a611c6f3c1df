import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type CfnTrail, Trail } from 'aws-cdk-lib/aws-cloudtrail';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

/**
 * Adds a trail of all reads of the table: "By default, trails and event data stores do not log data events" (CloudTrail, Logging data events). It also records
 * the reads of the functions, since a trail cannot select events by who caused them. The bucket is kept when the stack is deleted.
 */
export const addTableTrail = (scope: Construct, table: ITableV2, retentionDays: number): void => {
  const bucket = new Bucket(scope, 'TrailBucket', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(retentionDays) }],
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const trail = new Trail(scope, 'TableTrail', {
    bucket,
    isMultiRegionTrail: false,
    includeGlobalServiceEvents: false,
    enableFileValidation: true,
  });
  const equals = (field: string, value: string) => ({ field, equalTo: [value] });
  const resource = trail.node.defaultChild as CfnTrail;
  // A trail has one kind of selectors or the other.
  resource.eventSelectors = undefined;
  resource.advancedEventSelectors = [
    {
      name: 'Reads of the table',
      fieldSelectors: [
        equals('eventCategory', 'Data'),
        equals('resources.type', 'AWS::DynamoDB::Table'),
        equals('resources.ARN', table.tableArn),
        equals('readOnly', 'true'),
      ],
    },
  ];
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason: 'The trail is a log itself; a log of its readers would need a further bucket.',
  });
};
