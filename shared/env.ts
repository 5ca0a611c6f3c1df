import * as v from 'valibot';
import { KEY_PREFIXES } from '#shared/api-keys/format.ts';

/**
 * Every environment variable of the service, and nothing else reads `process.env`. A function is given only those that its
 * route's row needs; `local/` sets the same ones.
 */
const text = v.pipe(v.string(), v.minLength(1));
const list = v.pipe(
  text,
  v.transform((names) => names.split(',')),
  v.array(text),
);

const VARIABLES = {
  /** The table. */
  TABLE_NAME: text,
  /** Only outside AWS: the embedded database or an emulator. */
  DYNAMODB_ENDPOINT: v.optional(text),
  /** The hash secret: `file:<path>`, or the ARN of a secret in Secrets Manager. */
  HASH_SECRET: text,
  /** The credentials of the providers: `file:<path>`, or the name or ARN of a secret. */
  PROVIDER_SECRET: text,
  /** Identity registries by name, the first one first: `jibit,zohal`. */
  IDENTITY_PROVIDERS: list,
  /** SMS providers by name, the first one first: `kavenegar,sms-ir`. */
  SMS_PROVIDERS: list,
  /** The signing key: `file:<path of a PEM>`, or KMS key ids, the current one first. */
  SIGNING_KEYS: list,
  /** The `iss` of access tokens: the base URL of the service. */
  TOKEN_ISSUER: text,
  /** Which keys this deployment takes. */
  KEY_PREFIX: v.picklist(KEY_PREFIXES),
  /** Whether the one-time-code operations need a key. */
  OTP_ACCESS: v.picklist(['api-key', 'public']),
  /** The CloudWatch namespace of the log's metrics: one a stage, so that stages of one account do not ring each other's alarms. */
  METRIC_NAMESPACE: v.optional(text, 'BuyerLinking'),
} as const;

export type VariableName = keyof typeof VARIABLES;

export type OtpAccess = 'api-key' | 'public';

type Environment<Names extends VariableName> = {
  readonly [Name in Names]: v.InferOutput<(typeof VARIABLES)[Name]>;
};

/** Reads the named variables. Throws one error that names every one that is missing or wrong; it never shows a value. */
export const readEnv = <const Names extends readonly VariableName[]>(
  names: Names,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Environment<Names[number]> => {
  const schema = v.object(Object.fromEntries(names.map((name) => [name, VARIABLES[name]])));
  const result = v.safeParse(schema, environment);
  if (result.success) return result.output as Environment<Names[number]>;
  const wrong = [...new Set(result.issues.map((issue) => String(issue.path?.[0]?.key)))];
  throw new Error(`environment variables missing or wrong: ${wrong.join(', ')}`);
};

/** True inside Lambda, where work done while the module loads is free of the caller's time. */
export const runsInLambda = (): boolean => process.env.AWS_LAMBDA_FUNCTION_NAME !== undefined;
