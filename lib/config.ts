import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import { KEY_PREFIXES } from '#shared/api-keys/format.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { allRoutes } from '#shared/routes.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';

const LIVE_PREFIX: (typeof KEY_PREFIXES)[number] = 'blk_live_';

/** The retention times that CloudWatch Logs accepts. */
const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (days): days is number => typeof days === 'number',
);

const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `must be ${options.map((option) => `"${option}"`).join(' or ')}`);

const onOff = v.boolean('must be true or false');

const wholeNumber = (least: number, most: number) => {
  const sentence = `must be a whole number from ${least} to ${most}`;
  return v.pipe(
    v.number(sentence),
    v.integer(sentence),
    v.minValue(least, sentence),
    v.maxValue(most, sentence),
  );
};

const matching = (form: RegExp, example: string) => {
  const sentence = `must look like ${example}`;
  return v.pipe(v.string(sentence), v.regex(form, sentence));
};

/** A list without duplicates whose first item is the first choice. */
const listOf = <const Item extends v.GenericSchema<string>>(item: Item, content: string) => {
  const sentence = `must list ${content}, at least one, without duplicates, in the order of preference`;
  return v.pipe(
    v.array(item, sentence),
    v.minLength(1, sentence),
    v.check((list) => new Set(list).size === list.length, sentence),
  );
};

/** A list of providers by name; each must have an adapter. */
const providersOf = (known: readonly { readonly name: string }[]) => {
  const choice = known.map(({ name }) => `"${name}"`).join(', ');
  return listOf(
    v.picklist(
      known.map(({ name }) => name),
      `must be one of ${choice}`,
    ),
    `names of ${choice}`,
  );
};

const section = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, (issue) =>
    issue.expected === 'never'
      ? 'is not an option'
      : issue.received === 'undefined'
        ? 'is missing'
        : 'must be an object',
  );

/** An optional number for each function. */
const concurrencyByFunction = Object.fromEntries(
  [...allRoutes.map(({ name }) => name), 'authorizer'].map((name) => [name, v.optional(wholeNumber(1, 900))]),
);

/** Every option of a stage. No option has a default, so that two stages can be compared line by line. */
const configSchema = v.pipe(
  section({
    stage: matching(/^[a-z][a-z0-9]{1,15}$/, '"dev": 2 to 16 lower-case letters and digits'),
    /** The prefix of the API keys that this stage accepts. `blk_live_` is for prod alone. */
    keyPrefix: oneOf(KEY_PREFIXES),
    /** Whether the one-time-code operations require an API key. */
    otpAccess: oneOf(['api-key', 'public']),
    /** What a deleted stack does with its table, keys, secrets and logs. `retain` also turns on deletion protection. */
    removal: oneOf(['retain', 'destroy']),
    /** The name of a restored table that replaces the stage's own table; `null`: the stage's own table. */
    restoredTable: v.nullable(matching(/^[\w.-]{3,255}$/, '"buyer-linking-restored"')),
    logRetentionDays: v.picklist(RETENTION_DAYS, `must be one of ${RETENTION_DAYS.join(', ')}`),
    /** The receiver of alarms: an e-mail address or an existing SNS topic; `null`: none. */
    alarms: v.nullable(
      v.union(
        [
          section({ email: matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, '"on-call@your-company.com"') }),
          section({
            topicArn: matching(
              /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]+$/,
              '"arn:aws:sns:eu-central-1:123456789012:on-call"',
            ),
          }),
        ],
        'must be { "email": "…" }, { "topicArn": "arn:…" } or null',
      ),
    ),
    /** The providers by name, first choice first, and the Secrets Manager secret that holds their credentials. */
    providers: section({
      identityRegistry: providersOf(IDENTITY_PROVIDERS),
      sms: providersOf(SMS_PROVIDERS),
      secretName: matching(/^[\w/+=.@-]{1,500}$/, '"buyer-linking/dev/providers"'),
    }),
    /** Routes the functions that call providers through one NAT gateway with a fixed address. Costs about 37 USD a month. */
    staticEgress: onOff,
    /** A web firewall with a limit of requests for each client address in five minutes; `null`: none. */
    firewall: v.nullable(section({ requestsPerAddress: wholeNumber(10, 2_000_000_000) })),
    /** The throttle of each operation that requires no key. */
    openRoutes: section({ requestsPerSecond: wholeNumber(1, 10_000), burst: wholeNumber(1, 5_000) }),
    /** A custom domain and its certificate in the same Region; `null`: the default endpoint of API Gateway. */
    domain: v.nullable(
      section({
        name: matching(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, '"api.your-company.com"'),
        certificateArn: matching(
          /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
          '"arn:aws:acm:eu-central-1:123456789012:certificate/…"',
        ),
      }),
    ),
    /** Labels of the signing keys of access tokens: the first key signs, all are published. See docs/operations.md. */
    signingKeys: listOf(matching(/^[a-z][a-z0-9-]*$/, '"k1"'), 'labels'),
    /** Daily ceilings of the stage on what costs money, over all keys; `null`: no ceiling. An alarm is raised at 80 %. */
    spend: section({
      paidChecksPerDay: v.nullable(wholeNumber(1, 1_000_000_000)),
      smsPerDay: v.nullable(wholeNumber(1, 1_000_000_000)),
    }),
    /** Reserved concurrency by function; a function that is not listed shares the rest of the account's. `null`: none. */
    reservedConcurrency: v.nullable(section(concurrencyByFunction)),
    /** A function that requests the public keys over the public URL every five minutes, and an alarm on its failures. */
    canary: onOff,
    /** An alarm for each SMS provider on the share of codes that are redeemed. It uses metric math, which emulators do not have. */
    completionWatch: onOff,
  }),
  v.forward(
    v.check(
      ({ keyPrefix, stage }) => keyPrefix !== LIVE_PREFIX || stage === 'prod',
      `may be "${LIVE_PREFIX}" only in the stage prod: the keys of every other stage are test keys`,
    ),
    ['keyPrefix'],
  ),
  v.forward(
    v.check(
      ({ otpAccess, firewall, spend }) =>
        otpAccess === 'api-key' || (firewall !== null && spend.smsPerDay !== null),
      'may be "public" only with a "firewall" and a number in "spend.smsPerDay": without keys, these two replace the limits of the plans',
    ),
    ['otpAccess'],
  ),
);

/** The parsed config of a stage. */
export type Config = v.InferOutput<typeof configSchema>;

/** An invalid config. The message has one sentence for each fault, which names the option. */
export class ConfigError extends Error {
  constructor(stage: string, faults: readonly string[]) {
    super(
      `The config of stage "${stage}" cannot be deployed:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** Returns the sentence of an issue. For a union, that is the issue of the closest alternative. */
const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  const closest = issue.issues?.find(({ path }) => path !== undefined);
  if (closest)
    return sentenceOf({ ...closest, path: [...(issue.path ?? []), ...(closest.path ?? [])] as never });
  return `option "${v.getDotPath(issue)}" ${issue.message}.`;
};

/** Parses the config of a stage. Throws one ConfigError that names every option that is wrong, missing or unknown. */
export const parseConfig = (stage: string, options: Readonly<Record<string, unknown>>): Config => {
  const result = v.safeParse(configSchema, { stage, ...options });
  if (result.success) return result.output;
  throw new ConfigError(stage, [...new Set(result.issues.map(sentenceOf))]);
};
