import * as v from 'valibot';
import { KEY_PREFIXES } from '#shared/env.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import {
  concurrencyByFunction,
  listOf,
  matching,
  oneOf,
  onOff,
  option,
  providersOf,
  REQUIRED_OF_PROD,
  receiver,
  region,
  retentionDays,
  section,
  signingKeyLabel,
  throttle,
  wholeNumber,
} from './option-schemas.ts';

/** The prefix of live keys. */
export const LIVE_PREFIX: (typeof KEY_PREFIXES)[number] = 'blk_live_';

/** Every option of a stage. No option has a default, so that two stages can be compared line by line. */
export const options = {
  account: option(
    v.nullable(matching(/^\d{12}$/, '"123456789012"')),
    'The AWS account of the stage, which the credentials must belong to; –: the account of the credentials.',
  ),
  region: option(v.nullable(region), 'The Region of the stage; –: the Region of the credentials.'),
  leftUnset: option(
    v.nullable(listOf(oneOf(REQUIRED_OF_PROD), 'options')),
    'Those of `account`, `region`, `alarms`, `spend` and `budget` that are unset on purpose. Without all others, prod is neither compared nor deployed.',
  ),
  sharedAccount: option(
    v.nullable(matching(/\S/, '"the reason"')),
    'Why another stage may be in the account of prod. –: refused, since who deploys one stage of an account can change each stage in it.',
  ),
  keyPrefix: option(
    oneOf(KEY_PREFIXES),
    `The prefix of the API keys that the stage accepts. \`${LIVE_PREFIX}\` is for prod alone.`,
  ),
  otpAccess: option(
    oneOf(['api-key', 'public']),
    '`public`: the one-time-code operations require no key; requires `firewall` and `spend.smsPerDay`.',
  ),
  removal: option(
    oneOf(['retain', 'destroy']),
    'What a deleted stack does with its table, keys, secrets and logs. `retain` also turns on deletion protection.',
  ),
  pointInTimeRecoveryDays: option(
    wholeNumber(1, 35),
    'The days to which the table can be restored, to the second. For backups that are kept longer, let a plan of AWS Backup select the table by a tag of `tags`.',
  ),
  encryption: option(
    oneOf(['aws-owned-keys', 'customer-managed-key']),
    '`customer-managed-key`: a KMS key of the stage (alias `buyer-linking-<stage>`, rotated yearly) encrypts the table, the hash secret and the logs. Give it to the provider secret too.',
  ),
  hashSecretReplica: option(
    v.nullable(region),
    'A second Region that keeps a copy of the hash secret, without which the table is worthless: [Disaster recovery](operations.md#disaster-recovery). 0.40 USD a month.',
  ),
  permissionsBoundary: option(
    v.nullable(
      matching(
        /^arn:[\w-]+:iam::(?:\d{12}|aws):policy\/[\w+=,.@/-]+$/,
        '"arn:aws:iam::123456789012:policy/boundary"',
      ),
    ),
    'The managed policy that bounds the permissions of every role of the stage.',
  ),
  tags: option(
    v.nullable(
      v.record(
        matching(
          /^(?!aws:|(?:service|stage|version|commit)$)[\w.:/=+@ -]{1,128}$/i,
          '"cost-center"; the project sets service, stage, version and commit',
        ),
        matching(/^[\w.:/=+@ -]{1,256}$/, '"payments"'),
        'must be { "cost-center": "payments" } or null',
      ),
    ),
    'More tags for every resource. The project itself sets `service` and `stage`, and the API stack also `version` and `commit`.',
  ),
  logRetentionDays: option(retentionDays, 'The days for which CloudWatch keeps the logs.'),
  tableTrail: option(
    onOff,
    'A CloudTrail trail of every read of the table, for `logRetentionDays`, those of the functions included: about 1 USD per million reads.',
  ),
  alarms: option(
    receiver,
    'The receiver of alarms: `{ email }`, or `{ topicArn }` of [a topic of your own](#a-topic-of-your-own). Set it in prod.',
  ),
  minorAlarms: option(
    receiver,
    'The receiver of the alarms that can wait until the morning: slow operations, open circuits and the like; –: that of `alarms`.',
  ),
  runbookUrl: option(
    v.nullable(matching(/^https:\/\/[^\s#]+$/, '"https://wiki.your-company.com/operations.md"')),
    'Where people on call read `docs/operations.md`: the descriptions of alarms then link to its sections.',
  ),
  providers: option(
    section({
      identityRegistry: providersOf(IDENTITY_PROVIDERS),
      sms: providersOf(SMS_PROVIDERS),
      secretName: matching(/^[\w/+=.@-]{1,500}$/, '"buyer-linking/dev/providers"'),
    }),
    'The providers by name, the first one is called first, and the Secrets Manager secret that holds their credentials. `sandbox`: [test identities](test-identities.md#sandbox) only, no secret.',
  ),
  staticEgress: option(
    onOff,
    'One fixed address for providers to allow (output `EgressAddress`), through a NAT gateway for about 37 USD a month.',
  ),
  firewall: option(
    v.nullable(
      section({
        requestsPerAddress: wholeNumber(10, 2_000_000_000),
        codesPerAddress: wholeNumber(10, 2_000_000_000),
      }),
    ),
    'A web firewall with limits for one address: requests in 5 minutes; with `otpAccess: "public"` also requests to the one-time-code operations in 5 minutes; and a fifth of `openRoutes`.',
  ),
  openRoutes: option(throttle, 'The throttle of each operation that requires no key.'),
  keyedRoutes: option(
    throttle,
    "The throttle of each operation that requires a key, over all keys: invalid keys too, so that they cannot use up the account's.",
  ),
  domain: option(
    v.nullable(
      section({
        name: matching(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, '"api.your-company.com"'),
        certificateArn: matching(
          /^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/,
          '"arn:aws:acm:eu-central-1:123456789012:certificate/…"',
        ),
        defaultEndpoint: oneOf(['open', 'closed']),
      }),
    ),
    '`{ name, certificateArn, defaultEndpoint }` of a custom domain, the certificate in the same Region. `closed`: the domain is the only address and the issuer of tokens; `open`: both addresses work, and the issuer stays that of the default endpoint: [Custom domain](#custom-domain).',
  ),
  signingKeys: option(
    listOf(signingKeyLabel, 'labels'),
    'Labels of the signing keys: the first key signs, all are published. [Rotate the signing key](operations.md#rotate-the-signing-key).',
  ),
  retiredSigningKeys: option(
    v.nullable(listOf(signingKeyLabel, 'labels')),
    'Labels that left `signingKeys` with this deploy: their keys keep their grants, for the versions of the functions that still use them.',
  ),
  spend: option(
    section({
      paidChecksPerDay: v.nullable(wholeNumber(1, 1_000_000_000)),
      smsPerDay: v.nullable(wholeNumber(1, 1_000_000_000)),
    }),
    'Daily ceilings of the stage on what costs money, over all keys; an alarm at 80 %. A seller uses at most a quarter of each: [limits](limits.md#limits-of-a-deployment).',
  ),
  rollout: option(
    oneOf(['all-at-once', 'gradual', 'direct']),
    '`gradual`: a new version of a function gets 10 % of the requests for 5 minutes, and a failing one is rolled back: [Gradual rollout](operations.md#gradual-rollout). `direct`: it gets all at once, as with `--direct`. `all-at-once`: the same without an alias.',
  ),
  budget: option(
    v.nullable(section({ usdPerMonth: wholeNumber(1, 10_000_000) })),
    'A monthly budget of the stage: notifies the receiver of `alarms` at 80 % and when more than 100 % is forecast. Activate the cost allocation tags `service` and `stage` in Billing first.',
  ),
  reservedConcurrency: option(
    v.nullable(section(concurrencyByFunction)),
    'Reserved and largest number of concurrent runs, by function; the others share the rest of the account.',
  ),
  canary: option(
    onOff,
    'A function that calls the service over the public URL every 5 minutes, and an alarm on its failures. It needs [a key](#canary-key).',
  ),
  completionWatch: option(
    onOff,
    'An alarm for each SMS provider when less than a fifth of its codes is redeemed.',
  ),
};

/** Returns the sentence that describes each option, by name. */
export const optionDescriptions = (): ReadonlyMap<string, string> =>
  new Map(Object.entries(options).map(([name, schema]) => [name, v.getDescription(schema) ?? '']));
