import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Administration } from '#admin/administration.ts';
import type { Release } from '#lib/release.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import type { RequestLog } from './logs/request-log.ts';

/** A deployment that the CLI is connected to. */
export interface Connection {
  readonly admin: Administration;
  readonly hashes: KeyedHashes;
  /** What is deployed. */
  readonly release: Release;
  /** The names of the alarms that are raised; undefined if the deployment has no alarms. */
  alarms(): Promise<readonly string[] | undefined>;
  readonly requests: RequestLog;
  /** The ARN of the hash secret; undefined for the local service, which has it in a file. */
  readonly hashSecretArn: string | undefined;
  /** The AWS account and Region; undefined for the local service. */
  readonly aws: { readonly account: string; readonly region: string } | undefined;
  /** The URL of the service. */
  readonly baseUrl: string;
  /** Who stands in for the registries and the SMS provider; undefined for a stage that calls real ones. */
  readonly testPeople: 'sandbox' | 'simulated' | undefined;
  close(): void;
}

/** The options that choose a deployment. */
export interface TargetOptions {
  readonly local?: boolean;
  readonly stage?: string;
  readonly profile?: string;
  readonly region?: string;
  /** The data folder of the local service. */
  readonly data?: string;
}

/** A command may wait longer than a request, because a throttled table may recover. Timeouts are in milliseconds. */
const SETTINGS = {
  maxAttempts: 10,
  requestHandler: { connectionTimeout: 3000, requestTimeout: 20_000, throwOnRequestTimeout: true },
};

type ClientOptions = NonNullable<ConstructorParameters<typeof DynamoDBClient>[0]>;

/** Opens the table for the CLI. */
export const openAdminTable = (name: string, options: ClientOptions): Table => ({
  name,
  client: DynamoDBDocumentClient.from(new DynamoDBClient({ ...SETTINGS, ...options }), {
    marshallOptions: { removeUndefinedValues: true },
  }),
});
