import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as v from 'valibot';
import { KEY_PREFIXES } from '#shared/api-keys/format.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';

const LIVE_PREFIX: (typeof KEY_PREFIXES)[number] = 'blk_live_';

/** The numbers that CloudWatch Logs knows, and no others. */
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

/** A list in which each name stands once, and the first is the first choice. */
const listOf = <const Item extends v.GenericSchema<string>>(item: Item, wanted: string) => {
  const sentence = `must list ${wanted}, at least one, each once, the first choice first`;
  return v.pipe(
    v.array(item, sentence),
    v.minLength(1, sentence),
    v.check((list) => new Set(list).size === list.length, sentence),
  );
};

/** Providers by name: those that there is an adapter for. */
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

/** Every option of a stage. There are no defaults: a stage file says all of it, so that two stages can be compared by reading. */
const configSchema = v.pipe(
  section({
    stage: matching(/^[a-z][a-z0-9]{1,15}$/, '"dev": 2 to 16 lower-case letters and digits'),
    /** Which keys this stage takes. `blk_live_` belongs to prod alone. */
    keyPrefix: oneOf(KEY_PREFIXES),
    /** Whether the one-time-code operations need a key. */
    otpAccess: oneOf(['api-key', 'public']),
    /** What becomes of table, keys, secrets and logs when a stack is deleted. `retain` also protects them from deletion. */
    removal: oneOf(['retain', 'destroy']),
    /** A table that was restored from a backup and takes the place of the stage's own, by name; `null`: its own. */
    restoredTable: v.nullable(matching(/^[\w.-]{3,255}$/, '"buyer-linking-restored"')),
    logRetentionDays: v.picklist(RETENTION_DAYS, `must be one of ${RETENTION_DAYS.join(', ')}`),
    /** Who is told of an alarm: an address, or a topic that exists; `null`: nobody, the alarms only show. */
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
    /** Providers by name, the first choice first, and the secret in Secrets Manager that holds their credentials. */
    providers: section({
      identityRegistry: providersOf(IDENTITY_PROVIDERS),
      sms: providersOf(SMS_PROVIDERS),
      secretName: matching(/^[\w/+=.@-]{1,500}$/, '"buyer-linking/dev/providers"'),
    }),
    /** Puts the two functions that call providers behind one NAT gateway with a fixed address. Costs about 37 USD a month. */
    staticEgress: onOff,
    /** A web firewall with a limit for each client address over five minutes; `null`: none. */
    firewall: v.nullable(section({ requestsPerAddress: wholeNumber(10, 2_000_000_000) })),
    /** What the operations that ask for no key may take together, in requests a second. */
    openRoutes: section({ requestsPerSecond: wholeNumber(1, 10_000), burst: wholeNumber(1, 5_000) }),
    /** A domain of yours with its certificate in the same Region; `null`: the address that API Gateway gives. */
    domain: v.nullable(
      section({
        name: matching(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, '"api.your-company.com"'),
        certificateArn: matching(
          /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
          '"arn:aws:acm:eu-central-1:123456789012:certificate/…"',
        ),
      }),
    ),
    /** The signing keys of access tokens by a label of yours: the first one signs, all are published. See docs/operations.md. */
    signingKeys: listOf(matching(/^[a-z][a-z0-9-]*$/, '"k1"'), 'labels of your own'),
    /** A small function that asks for the public keys from outside every five minutes, and an alarm if it gets none. */
    canary: onOff,
  }),
  v.forward(
    v.check(
      ({ keyPrefix, stage }) => keyPrefix !== LIVE_PREFIX || stage === 'prod',
      `may be "${LIVE_PREFIX}" only in the stage prod: elsewhere a key must show that it is a test key`,
    ),
    ['keyPrefix'],
  ),
  v.forward(
    v.check(
      ({ otpAccess, firewall }) => otpAccess === 'api-key' || firewall !== null,
      'must not be null where "otpAccess" is "public": without keys, a limit for each address stands in for the plans',
    ),
    ['firewall'],
  ),
);

export type Config = v.InferOutput<typeof configSchema>;

/** What is wrong with a config, one sentence a fault, each naming its option. */
export class ConfigError extends Error {
  constructor(stage: string, faults: readonly string[]) {
    super(
      `The config of stage "${stage}" cannot be deployed:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

/** The sentence of an issue. An alternative of several says more by its closest branch than by itself. */
const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  const closest = issue.issues?.find(({ path }) => path !== undefined);
  if (closest)
    return sentenceOf({ ...closest, path: [...(issue.path ?? []), ...(closest.path ?? [])] as never });
  return `option "${v.getDotPath(issue)}" ${issue.message}.`;
};

/** A config that may be deployed, or one ConfigError that names every option that is wrong, missing or unknown. */
export const parseConfig = (stage: string, options: Readonly<Record<string, unknown>>): Config => {
  const result = v.safeParse(configSchema, { stage, ...options });
  if (result.success) return result.output;
  throw new ConfigError(stage, [...new Set(result.issues.map(sentenceOf))]);
};
