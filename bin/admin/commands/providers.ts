import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Command } from 'commander';
import { refusal } from '#admin/operations/refusal.ts';
import { setProviderCredentials } from '#admin/operations/set-provider-credentials.ts';
import { TargetError, targetOf } from '#bin/stage/target.ts';
import { type Config, ConfigError } from '#lib/config.ts';
import { configOf } from '#lib/stages.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { addCommand, type GlobalOptions } from '../command.ts';
import { UsageError } from '../errors.ts';
import { readSection } from '../provider-section.ts';
import type { Terminal } from '../terminal.ts';

const PROVIDERS = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS];

const credentialsOf = (name: string) => {
  const schema = PROVIDERS.find((provider) => provider.name === name)?.credentials;
  if (schema !== undefined) return schema;
  const known = PROVIDERS.filter(({ credentials }) => credentials !== undefined).map((each) => each.name);
  throw new UsageError(`No provider ${name} has credentials. Those that have: ${known.join(', ')}.`);
};

/** Returns the config of a stage and its Region, after the account and the Region of the credentials were checked. */
const checkedStage = async ({ stage, profile, region }: GlobalOptions) => {
  if (stage === undefined) {
    throw new UsageError(
      'The local service uses simulators, which need no credentials. Name a stage: --stage prod.',
    );
  }
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  try {
    const config: Config = configOf(stage);
    return { config, target: await targetOf(config) };
  } catch (error) {
    if (error instanceof ConfigError) throw refusal('bad_input', error.message, { cause: error });
    if (error instanceof TargetError) throw refusal('not_allowed', error.message, { cause: error });
    throw error;
  }
};

const set = async (terminal: Terminal, options: GlobalOptions, provider: string): Promise<void> => {
  const credentials = credentialsOf(provider);
  const { config, target } = await checkedStage(options);
  const section = await readSection(terminal, provider, credentials);
  const secret = config.providers.secretName;
  const client = new SecretsManagerClient({ region: target.region });
  try {
    await setProviderCredentials(client, secret, { provider, section });
  } finally {
    client.destroy();
  }
  const result = { stage: config.stage, provider, secret, fields: Object.keys(section) };
  terminal.out(
    options.json
      ? `${JSON.stringify(result, null, 2)}\n`
      : `Set ${result.fields.join(', ')} of ${provider} in the secret ${secret}.\n`,
  );
};

/** `providers set`. It needs no deployed stack, since the secret must exist before the first deploy. */
export const addProviderCommands = (program: Command, terminal: Terminal): void => {
  const providers = program.command('providers').description('manage the credentials of the providers');
  addCommand(
    providers,
    'set <provider>',
    'write the credentials of a provider to the provider secret of a stage',
    ['providers set jibit --stage prod', 'providers set jibit --stage prod < section.json'],
  ).action((provider: string, _options: object, command: Command) =>
    set(terminal, command.optsWithGlobals<GlobalOptions>(), provider),
  );
};
