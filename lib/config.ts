import type { Environment } from 'aws-cdk-lib';
import * as v from 'valibot';
import { isSandboxAllowed } from '#shared/providers/sandbox.ts';
import { matching, section } from './option-schemas.ts';
import { LIVE_PREFIX, options } from './options.ts';

const fields = section({
  stage: matching(/^[a-z][a-z0-9]{1,15}$/, '"dev": 2 to 16 lower-case letters and digits'),
  ...options,
});

/** The parsed config of a stage. */
export type Config = v.InferOutput<typeof fields>;

/** Returns the `env` of the stage's stacks. Where the config names no account or Region, CDK uses that of the credentials. */
export const environmentOf = ({ account, region }: Config): Environment => ({
  ...(account !== null && { account }),
  ...(region !== null && { region }),
});

/** A rule over several options. Its sentence is about the option that it names. */
const rule = (option: keyof Config, isMet: (config: Config) => boolean, sentence: string) =>
  v.forward(v.check(isMet, sentence), [option]);

const configSchema = v.pipe(
  fields,
  rule(
    'keyPrefix',
    ({ keyPrefix, stage }) => keyPrefix !== LIVE_PREFIX || stage === 'prod',
    `may be "${LIVE_PREFIX}" only in the stage prod: the keys of every other stage are test keys`,
  ),
  rule(
    'providers',
    ({ providers: { identityRegistry, sms }, keyPrefix }) =>
      isSandboxAllowed([...identityRegistry, ...sms], keyPrefix),
    'may name "sandbox" only for both ports, without another provider, and with the keyPrefix "blk_test_"',
  ),
  rule(
    'budget',
    ({ budget, alarms }) => budget === null || alarms !== null,
    'may be set only with "alarms", which says whom it notifies',
  ),
  rule(
    'minorAlarms',
    ({ minorAlarms, alarms }) => minorAlarms === null || alarms !== null,
    'may be set only with "alarms", which receives the other ones',
  ),
  rule(
    'hashSecretReplica',
    ({ hashSecretReplica, region }) => hashSecretReplica === null || hashSecretReplica !== region,
    'must name another Region than "region"',
  ),
  rule(
    'retiredSigningKeys',
    ({ retiredSigningKeys, signingKeys }) =>
      retiredSigningKeys === null || !retiredSigningKeys.some((label) => signingKeys.includes(label)),
    'may not name a key of "signingKeys"',
  ),
  rule(
    'otpAccess',
    ({ otpAccess, firewall, spend }) =>
      otpAccess === 'api-key' || (firewall !== null && spend.smsPerDay !== null),
    'may be "public" only with a "firewall" and a number in "spend.smsPerDay": without keys, these two replace the limits of the plans',
  ),
);

/** A stage that does not exist, or an invalid config. The message has one sentence for each fault, which names the option. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const faultsOf = (stage: string, faults: readonly string[]): string => {
  const lines = faults.length === 1 ? ` ${faults[0]}` : faults.map((fault) => `\n  - ${fault}`).join('');
  return `The config of stage "${stage}" cannot be deployed:${lines}`;
};

/** Returns the sentence of an issue. For a union, that is the issue of the closest alternative. */
const sentenceOf = (issue: v.BaseIssue<unknown>): string => {
  const closest = issue.issues?.find(({ path }) => path !== undefined);
  if (closest)
    return sentenceOf({ ...closest, path: [...(issue.path ?? []), ...(closest.path ?? [])] as never });
  return `option "${v.getDotPath(issue)}" ${issue.message}.`;
};

/** Parses the config of a stage. Throws one ConfigError that names every option that is wrong, missing or unknown. */
export const parseConfig = (stage: string, values: Readonly<Record<string, unknown>>): Config => {
  const result = v.safeParse(configSchema, { stage, ...values });
  if (result.success) return result.output;
  throw new ConfigError(faultsOf(stage, [...new Set(result.issues.map(sentenceOf))]));
};
