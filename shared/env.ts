import * as v from 'valibot';

/** Nothing else in a function reads `process.env`. A function gets only the variables that its row requires. */
const text = v.pipe(v.string(), v.minLength(1));
const list = v.pipe(
  text,
  v.transform((names) => names.split(',')),
  v.array(text),
);

const wholeNumber = v.pipe(text, v.regex(/^[1-9][0-9]*$/), v.transform(Number));

/** `blk_live_` in prod, `blk_test_` elsewhere. A stage rejects a key of the other prefix without a read. */
export const KEY_PREFIXES = ['blk_live_', 'blk_test_'] as const;

export type KeyPrefix = (typeof KEY_PREFIXES)[number];

const VARIABLES = {
  TABLE_NAME: text,
  /** Only outside AWS: the embedded database or an emulator. */
  DYNAMODB_ENDPOINT: v.optional(text),
  /** The hash secret: `file:<path>`, or the ARN of a secret in Secrets Manager. */
  HASH_SECRET: text,
  /** The credentials of the providers: `file:<path>`, or the name or ARN of a secret. */
  PROVIDER_SECRET: text,
  /** Identity registries by name, in the order in which they are called: `jibit,zohal`, or `sandbox`. */
  IDENTITY_PROVIDERS: list,
  /** SMS providers by name, in the order in which they are called: `kavenegar,sms-ir`, or `sandbox`. */
  SMS_PROVIDERS: list,
  /** The signing key: `file:<path of a PEM>`, or KMS key ids, the current one first. */
  SIGNING_KEYS: list,
  /** The `iss` of access tokens, base URLs of the service: the first is written into tokens, all are accepted. */
  TOKEN_ISSUERS: list,
  KEY_PREFIX: v.picklist(KEY_PREFIXES),
  /** Whether the one-time-code operations require a key. */
  OTP_ACCESS: v.picklist(['api-key', 'public']),
  /** The stage's ceilings per day (UTC); none if unset. */
  PAID_CHECKS_PER_DAY: v.optional(wholeNumber),
  SMS_PER_DAY: v.optional(wholeNumber),
  /** Only outside AWS, where no gateway names the domain: the base URL of the service. */
  BASE_URL: v.optional(text),
  /** The version and the commit of the deployed code: `1.2.3` and `0123456789ab`. */
  RELEASE_VERSION: text,
  RELEASE_COMMIT: text,
  /** Whom sellers ask for help, where they see the state of the service, and where buyers register; none if unset. */
  SUPPORT_EMAIL: v.optional(text),
  STATUS_URL: v.optional(text),
  BUYER_APP_URL: v.optional(text),
  /** The CloudWatch namespace of the log's metrics: one per stage, so that stages of one account do not raise each other's alarms. */
  METRIC_NAMESPACE: v.optional(text, 'BuyerLinking'),
} as const;

export type VariableName = keyof typeof VARIABLES;

export type OtpAccess = 'api-key' | 'public';

type Environment<Names extends VariableName> = {
  readonly [Name in Names]: v.InferOutput<(typeof VARIABLES)[Name]>;
};

/** Reads the named variables. Throws one error that names each variable that is missing or wrong, without its value. */
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

/** True in Lambda, where work during module load does not count toward a request's time. */
export const runsInLambda = (): boolean => process.env.AWS_LAMBDA_FUNCTION_NAME !== undefined;

/** The folder of the built site: in Lambda beside the code; `local/` sets another one. */
export const siteFolder = (): string => process.env.SITE_FOLDER ?? `${import.meta.dirname}/site`;

/** Makes the dependencies once: in Lambda during module load, at full CPU; elsewhere at the first request. */
export const bindOnce = <Deps>(bind: () => Deps): (() => Deps) => {
  let bound: Deps | undefined;
  const deps = (): Deps => {
    bound ??= bind();
    return bound;
  };
  if (runsInLambda()) deps();
  return deps;
};
