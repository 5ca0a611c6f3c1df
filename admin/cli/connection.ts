import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Administration } from '#admin/administration.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';

/** A deployment that the CLI is connected to. */
export interface Connection {
  readonly admin: Administration;
  readonly hashes: KeyedHashes;
  /** What is deployed. */
  release(): { readonly version: string; readonly commit: string };
  /** The names of the alarms that are raised; undefined if the deployment has no alarms. */
  alarms(): Promise<readonly string[] | undefined>;
  /** The aliases of functions that serve another version than that of the stack, each in one sentence; undefined if the deployment has none. */
  movedAliases(): Promise<readonly string[] | undefined>;
  /** The ARN of the hash secret; undefined for the local service, which has it in a file. */
  readonly hashSecretArn: string | undefined;
  /** The AWS account and Region; undefined for the local service. */
  readonly aws: { readonly account: string; readonly region: string } | undefined;
  readonly baseUrl: string;
  /** Whether the registries and the SMS provider are the sandbox. */
  readonly isSandbox: boolean;
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

/** The provider secret of a stage, which may not be deployed yet. */
export interface ProviderSecret {
  readonly stage: string;
  readonly secretName: string;
  readonly client: SecretsManagerClient;
}

/** How the CLI reaches deployments. */
export interface Deployments {
  connect(options: TargetOptions): Promise<Connection>;
  /** Throws `bad_input` for a stage that does not exist or is not configured, `not_allowed` for credentials of another account. */
  openProviderSecret(stage: string, options: TargetOptions): Promise<ProviderSecret>;
}

/** A command may wait longer than a request, because a throttled table may recover. Timeouts are in milliseconds. */
const SETTINGS = {
  maxAttempts: 10,
  requestHandler: { connectionTimeout: 3000, requestTimeout: 20_000, throwOnRequestTimeout: true },
};

type ClientOptions = NonNullable<ConstructorParameters<typeof DynamoDBClient>[0]>;

export const openAdminTable = (name: string, options: ClientOptions): Table => ({
  name,
  client: DynamoDBDocumentClient.from(new DynamoDBClient({ ...SETTINGS, ...options }), {
    marshallOptions: { removeUndefinedValues: true },
  }),
});
