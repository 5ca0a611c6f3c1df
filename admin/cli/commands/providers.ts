import { text as readAll } from 'node:stream/consumers';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Command } from 'commander';
import * as v from 'valibot';
import { setProviderSection } from '#admin/operations/set-provider-credentials.ts';
import { refusal } from '#admin/refusal.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { type CredentialsSchema, ORDER } from '#shared/providers/provider.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { addCommand, type GlobalOptions } from '../command.ts';
import type { Deployments } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { stageRegion } from '../stage-region.ts';
import { askHidden, type Terminal } from '../terminal.ts';

const PROVIDERS = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS];

const credentialsOf = (name: string) => {
  const schema = PROVIDERS.find((provider) => provider.name === name)?.credentials;
  if (schema !== undefined) return schema;
  const known = PROVIDERS.filter(({ credentials }) => credentials !== undefined).map((each) => each.name);
  throw new UsageError(`No provider ${name} has credentials. Those that have: ${known.join(', ')}.`);
};

/** Returns the provider secret of a stage and its Region, after the account of the credentials was checked. */
const checkedSecret = async (
  { providerSecretOf }: Deployments,
  { stage, profile, region }: GlobalOptions,
) => {
  if (stage === undefined) {
    throw new UsageError(
      'The local service uses the sandbox, which needs no credentials. Name a stage: --stage prod.',
    );
  }
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  const secret = await providerSecretOf(stage);
  return { ...secret, region: await stageRegion(secret) };
};

const requiredFields = ({ entries }: CredentialsSchema): readonly string[] =>
  Object.keys(entries).filter((name) => entries[name]?.type !== 'optional');

/** The fields without a default; the others can be set by stdin. */
const askedFields = ({ entries }: CredentialsSchema): readonly string[] =>
  Object.keys(entries).filter((name) => {
    const entry = entries[name];
    return entry !== undefined && !('default' in entry && entry.default !== undefined);
  });

/** A field that is a number in the secret is typed as digits. */
const typedValue = (schema: v.GenericSchema | undefined, text: string): unknown => {
  const isNumber = schema !== undefined && !v.is(schema, text) && v.is(schema, Number(text));
  return isNumber ? Number(text) : text;
};

const asked = async (credentials: CredentialsSchema, provider: string): Promise<unknown> => {
  const section: Record<string, unknown> = {};
  const required = requiredFields(credentials);
  for (const name of askedFields(credentials)) {
    const isRequired = required.includes(name);
    const text = await askHidden(`${provider} ${name}${isRequired ? '' : ' (Enter for none)'}: `);
    if (!isRequired && text === '') continue;
    section[name] = typedValue(credentials.entries[name] as v.GenericSchema, text);
  }
  return section;
};

const piped = async (): Promise<unknown> => {
  try {
    return JSON.parse(await readAll(process.stdin));
  } catch {
    // The error of the parser quotes the text.
    return undefined;
  }
};

/**
 * Reads the credentials of a provider: asks for each field on a terminal, without showing it; else reads a JSON object from stdin. Throws
 * `bad_input` with the names of the fields that are missing, wrong or unknown, and never with a value.
 */
const readSection = async (
  terminal: Terminal,
  provider: string,
  credentials: CredentialsSchema,
): Promise<Readonly<Record<string, unknown>>> => {
  const section = terminal.isInteractive ? await asked(credentials, provider) : await piped();
  const fields = requiredFields(credentials);
  if (typeof section !== 'object' || section === null || Array.isArray(section)) {
    throw refusal('bad_input', `Stdin must be a JSON object with ${fields.join(', ')}. Nothing was changed.`);
  }
  const unknown = Object.keys(section).filter((name) => !Object.hasOwn(credentials.entries, name));
  const result = v.safeParse(credentials, section);
  const wrong = (result.issues ?? []).map(({ path }) => String(path?.[0]?.key));
  const names = [...new Set([...unknown, ...wrong])];
  if (names.length > 0) {
    throw refusal('bad_input', `Missing, wrong or unknown: ${names.join(', ')}. Nothing was changed.`);
  }
  return section as Readonly<Record<string, unknown>>;
};

const set = async (
  { terminal, ...deployments }: Deployments & { readonly terminal: Terminal },
  options: GlobalOptions,
  provider: string,
): Promise<void> => {
  const credentials = credentialsOf(provider);
  const { stage, name: secret, region } = await checkedSecret(deployments, options);
  const section = await readSection(terminal, provider, credentials);
  await write(region, secret, { name: provider, section });
  const result = { stage, provider, secret, fields: Object.keys(section) };
  terminal.out(
    options.json
      ? `${JSON.stringify(result, null, 2)}\n`
      : `Set ${result.fields.join(', ')} of ${provider} in the secret ${secret}.\n`,
  );
};

const write = async (
  region: string,
  secret: string,
  section: Parameters<typeof setProviderSection>[2],
): Promise<void> => {
  const client = new SecretsManagerClient({ region });
  try {
    await setProviderSection(client, secret, section);
  } finally {
    client.destroy();
  }
};

/** Writes the order of the providers of both ports. Those that are not named follow in the order of the stage. */
const order = async (
  { terminal, ...deployments }: Deployments & { readonly terminal: Terminal },
  options: GlobalOptions,
  names: readonly string[],
): Promise<void> => {
  for (const name of names) credentialsOf(name);
  const { stage, name: secret, region } = await checkedSecret(deployments, options);
  await write(region, secret, { name: ORDER, section: names });
  terminal.out(
    options.json
      ? `${JSON.stringify({ stage, secret, order: names }, null, 2)}\n`
      : `${names.join(', ')}: the order in the secret ${secret}. Functions read it within 15 minutes.\n`,
  );
};

/** `providers set` and `providers order`. They need no deployed stack, since the secret must exist before the first deploy. */
export const addProviderCommands = (program: Command, terminal: Terminal, deployments: Deployments): void => {
  const providers = program.command('providers').description('manage the credentials of the providers');
  addCommand(
    providers,
    'set <provider>',
    'write the credentials of a provider to the provider secret of a stage',
    ['providers set jibit --stage prod', 'providers set jibit --stage prod < section.json'],
  ).action((provider: string, _options: object, command: Command) =>
    set({ ...deployments, terminal }, command.optsWithGlobals<GlobalOptions>(), provider),
  );
  addCommand(
    providers,
    'order <provider...>',
    'write which providers are called first, one after the other, without a deploy; the rest follows in the order of the stage',
    ['providers order zohal jibit --stage prod'],
  ).action((names: readonly string[], _options: object, command: Command) =>
    order({ ...deployments, terminal }, command.optsWithGlobals<GlobalOptions>(), names),
  );
};
