import type { Environment } from 'aws-cdk-lib';
import type { KeyPrefix } from '#shared/env.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { redact } from '#shared/log.ts';
import { providersNamed } from '#shared/providers/provider.ts';
import { isSandbox, isSandboxAllowed } from '#shared/providers/sandbox.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { STAGE_NAMES, STAGES, type Stage } from './stages.ts';

/** The checked settings of a stage, with its name and the prefix of the API keys that it accepts. */
export interface Config extends Stage {
  readonly stage: string;
  readonly keyPrefix: KeyPrefix;
}

/** A stage that does not exist, or wrong settings. The message has one sentence for each fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The concurrency that functions without a reservation must have. Lambda itself keeps 100: a deploy that leaves less fails. */
const UNRESERVED_CONCURRENCY = 200;

/** What the check before traffic reserves, if a stage reserves any: during a flood too a deploy must pass. */
export const CHECK_CONCURRENCY = 1;

const unreservedOf = ({ reservedConcurrency }: Config): number =>
  reservedConcurrency === null
    ? Number.POSITIVE_INFINITY
    : Object.values(reservedConcurrency.functions).reduce(
        (rest, reserved) => rest - reserved,
        reservedConcurrency.accountQuota - CHECK_CONCURRENCY,
      );

/** Whether the stage has the issuers as addresses, and verifiers can read the public keys at the first one. */
const areAddresses = ({ domain, issuers: [first, second] }: Config): boolean =>
  domain === null
    ? first === 'default-endpoint' && second === undefined
    : first === 'domain' || domain.defaultEndpoint === 'open';

const areWhole = (least: number, ...numbers: readonly number[]): boolean =>
  numbers.every((number) => Number.isInteger(number) && number >= least);

/** AWS Backup refuses to copy a backup to a vault of the Region and account in which it is. */
const isElsewhere = ({ account, region, backupCopy }: Config): boolean => {
  if (backupCopy === null || backupCopy === 'none') return true;
  const [, , , vaultRegion, vaultAccount] = backupCopy.vaultArn.split(':');
  return vaultRegion !== region || vaultAccount !== account;
};

/** A name of DNS with two labels at least: no URL, no underscore, no `*`. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;

type Rule = readonly [isMet: boolean, sentence: string];

/** What a stage names must be in its account and Region. Where it names none, they are those of the credentials, which a synth does not have. */
const rulesOfPlaces = ({ account, region, domain, alarms, staticEgress }: Config): readonly Rule[] => {
  const isHere = (arn: string): boolean => {
    const [, , , arnRegion, arnAccount] = arn.split(':');
    return (region ?? arnRegion) === arnRegion && (account ?? arnAccount) === arnAccount;
  };
  const topicArn = alarms !== null && 'topicArn' in alarms ? alarms.topicArn : undefined;
  const zones = staticEgress === null || staticEgress.zones === 'first-two' ? [] : staticEgress.zones;
  return [
    [
      domain === null || HOST_NAME.test(domain.name),
      `domain.name must look like 'api.your-company.com', without https:// and path`,
    ],
    [
      domain === null || isHere(domain.certificateArn),
      'domain.certificateArn must be a certificate of the account and Region of the stage',
    ],
    [
      topicArn === undefined || isHere(topicArn),
      'alarms.topicArn must be a topic of the account and Region of the stage',
    ],
    [
      region === null || zones.every((zone) => /^[a-z]$/.test(zone.replace(region, ''))),
      `staticEgress.zones must be zones of ${region}`,
    ],
    [new Set(zones).size === zones.length, 'staticEgress.zones must be two zones'],
  ];
};

const rulesOfNumbers = (config: Config): readonly Rule[] => {
  const { spend, firewall } = config;
  const ceilings = [spend.paidChecksPerDay, spend.smsPerDay].filter((limit) => limit !== null);
  const throttles = [config.openRoutes, config.keyedRoutes];
  return [
    [
      areWhole(1, ...Object.values(config.alarmThresholds)),
      'alarmThresholds must be whole numbers above 0: every alarm would be raised at once',
    ],
    [areWhole(1, ...ceilings), 'spend must be whole numbers above 0'],
    [
      areWhole(1, ...throttles.flatMap(({ requestsPerSecond, burst }) => [requestsPerSecond, burst])),
      'openRoutes and keyedRoutes must be whole numbers above 0',
    ],
    [
      firewall === null || areWhole(10, firewall.requestsPerAddress, firewall.codesPerAddress),
      'firewall must have whole numbers of at least 10',
    ],
    [
      unreservedOf(config) >= UNRESERVED_CONCURRENCY,
      `reservedConcurrency must leave ${UNRESERVED_CONCURRENCY} of accountQuota to the functions that it does not name, and ${CHECK_CONCURRENCY} to the check before traffic`,
    ],
  ];
};

/** What types cannot say: a sentence for each fault. */
const faultsOf = (config: Config): readonly string[] => {
  const { account, region, providers, keyPrefix, spend, signingKeys } = config;
  const labels = [...signingKeys, ...config.retiredSigningKeys];
  const names = [...providers.identityRegistry, ...providers.sms];
  const rules: readonly Rule[] = [
    ...rulesOfPlaces(config),
    ...rulesOfNumbers(config),
    [/^[a-z][a-z0-9]{1,15}$/.test(config.stage), 'its name must be 2 to 16 lower-case letters and digits'],
    [account === null || /^\d{12}$/.test(account), `account must look like '123456789012'`],
    [region === null || /^[a-z]{2,}(-[a-z]+)+-\d$/.test(region), `region must look like 'eu-central-1'`],
    [config.hashSecretReplica !== region || region === null, 'hashSecretReplica must be another Region'],
    [
      isSandboxAllowed(names, keyPrefix),
      '"sandbox" must be the only provider of both ports, and not with live keys',
    ],
    [
      config.keys === 'test' || config.removal === 'retain',
      `removal 'destroy' would delete live users with the stack: set 'retain'`,
    ],
    [isElsewhere(config), 'backupCopy must name a vault of another Region or account'],
    [
      signingKeys.length > 0 && new Set(labels).size === labels.length,
      'signing keys must be different labels',
    ],
    [
      areAddresses(config),
      `issuers may name 'domain' only with domain, and 'default-endpoint' first only while that is open`,
    ],
    [
      config.otpAccess === 'api-key' || (config.firewall !== null && spend.smsPerDay !== null),
      'otpAccess "public" requires firewall and spend.smsPerDay, which replace the limits of the plans',
    ],
  ];
  return rules.filter(([isMet]) => !isMet).map(([, sentence]) => sentence);
};

/** Returns the config of a stage from its settings. Throws ConfigError. */
export const parseConfig = (stage: string, settings: Stage): Config => {
  const config = { ...settings, stage, keyPrefix: `blk_${settings.keys}_` } as const;
  const faults = [...faultsOf(config)];
  try {
    providersNamed(settings.providers.identityRegistry, IDENTITY_PROVIDERS);
    providersNamed(settings.providers.sms, SMS_PROVIDERS);
  } catch (error) {
    faults.push(`providers: ${(error as Error).message}`);
  }
  if (faults.length === 0) return config;
  throw new ConfigError(faults.map((fault) => `Stage ${stage} of lib/stages.ts: ${fault}.`).join('\n'));
};

/** Returns the config of a stage. Throws ConfigError. */
export const configOf = (stage: unknown): Config => {
  const name = STAGE_NAMES.find((each) => each === stage);
  if (name !== undefined) return parseConfig(name, STAGES[name]);
  throw new ConfigError(
    `The stages of lib/stages.ts are ${STAGE_NAMES.join(' and ')}: ${stage === undefined ? 'name one' : `there is no "${redact(String(stage))}"`}.`,
  );
};

/** Returns the `env` of the stage's stacks. Where the config names no account or Region, CDK uses that of the credentials. */
export const accountAndRegionOf = ({ account, region }: Config): Environment => ({
  ...(account !== null && { account }),
  ...(region !== null && { region }),
});

/** Returns a note for a stage with test keys and real providers: it has real buyers, and none of the checks of a deploy that protect them. */
export const testKeyNotes = ({ stage, keys, providers }: Config): readonly string[] =>
  keys === 'live' || isSandbox(providers.sms)
    ? []
    : [
        `Note: ${stage} has keys 'test' and real providers: a deploy requires none of ${Object.keys(REQUIRED).join(', ')}, accepts removal 'destroy', and lets other stages into its account.`,
      ];

/** What a stage with live keys must set, with its shape: without it nobody notices a wrong account, a failure or a loss. */
const REQUIRED = {
  account: `'123456789012'`,
  region: `'eu-central-1'`,
  alarms: `{ email: 'on-call@your-company.com' } or { topicArn: 'arn:aws:sns:…' }`,
  spend: '{ paidChecksPerDay: 5000, smsPerDay: 10_000 }, or null for one of them',
  backupCopy: `{ vaultArn: 'arn:aws:backup:…', every: 'day', keepDays: 35 } or 'none'`,
} as const satisfies Partial<Record<keyof Stage, string>>;

const unsetOf = (config: Config): readonly string[] => {
  const { paidChecksPerDay, smsPerDay } = config.spend;
  const spend = paidChecksPerDay ?? smsPerDay;
  return Object.entries({ ...REQUIRED })
    .filter(([name]) => ({ ...config, spend })[name as keyof typeof REQUIRED] === null)
    .map(([name, shape]) => `Set ${name} of ${config.stage} in lib/stages.ts: ${shape}.`);
};

/**
 * Returns why a stage may not share the account of the config or of the credentials with a stage that has live keys: whoever may deploy one
 * stage can assume every CDK role of the account, and so change each stage in it.
 */
const sharedAccounts = (config: Config, stages: readonly Config[], caller?: string): readonly string[] => {
  const isAlone = ({ keys, sharesAccount }: Config): boolean => keys === 'live' && !sharesAccount;
  return stages
    .filter((other) => other.stage !== config.stage && (isAlone(config) || isAlone(other)))
    .filter(({ account }) => account !== null && account === (config.account ?? caller))
    .map(
      ({ stage, account }) =>
        `Stages ${config.stage} and ${stage} share the account ${account}: who deploys one can change the other. Use two accounts, or set sharesAccount of the one with live keys.`,
    );
};

/**
 * Returns why a stage may not be deployed: one sentence for each reason. `stages`: every stage. `caller`: the account of the credentials, if
 * there are any.
 */
export const deployFaults = (
  config: Config,
  stages: readonly Config[],
  caller?: string,
): readonly string[] => [
  ...(config.keys === 'live' ? unsetOf(config) : []),
  ...sharedAccounts(config, stages, caller),
];
