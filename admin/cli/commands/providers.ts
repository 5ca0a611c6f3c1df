import { text as readAll } from 'node:stream/consumers';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { Command } from 'commander';
import * as v from 'valibot';
import { setProviderSection } from '#admin/operations/set-provider-credentials.ts';
import { refusal } from '#admin/refusal.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { type CredentialsSchema, ORDER } from '#shared/providers/provider.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { addCommand, type GlobalOptions, write } from '../command.ts';
import type { Deployments, ProviderSecret } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { askHidden, type Terminal } from '../terminal.ts';

const PROVIDERS = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS];

const credentialsOf = (name: string) => {
  const schema = PROVIDERS.find((provider) => provider.name === name)?.credentials;
  if (schema !== undefined) return schema;
  const known = PROVIDERS.filter(({ credentials }) => credentials !== undefined).map((each) => each.name);
  throw new UsageError(`No provider ${name} has credentials. Those that have: ${known.join(', ')}.`);
};

/**
 * Returns the Region of a stage: that of its config, else that of the credentials. Throws `not_allowed` if the credentials are of another
 * account than the config names.
 */
export const stageRegion = async ({
  stage,
  account,
  region,
}: Omit<ProviderSecret, 'name'>): Promise<string> => {
  const client = new STSClient(region === null ? {} : { region });
  try {
    const { Account: caller } = await client.send(new GetCallerIdentityCommand({}));
    if (account !== null && caller !== account) {
      throw refusal(
        'not_allowed',
        `Stage ${stage} is in account ${account}, and these credentials are of account ${caller}. Nothing was changed.`,
      );
    }
    return await client.config.region();
  } finally {
    client.destroy();
  }
};

type Context = Deployments & { readonly terminal: Terminal };

/** A section to write, and what the command shows of it. */
interface Change {
  readonly name: string;
  readonly section: object;
  readonly shown: object;
  readonly text: string;
}

/** Writes a section of the provider secret of a stage. `read` is called with its name, after the account of the credentials was checked. */
const change = async (
  { terminal, providerSecretOf }: Context,
  { stage, profile, region, json = false }: GlobalOptions,
  read: (secret: string) => Promise<Change>,
): Promise<void> => {
  if (stage === undefined) {
    throw new UsageError(
      'The local service uses the sandbox, which needs no credentials. Name a stage: --stage prod.',
    );
  }
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  const secret = await providerSecretOf(stage);
  const client = new SecretsManagerClient({ region: await stageRegion(secret) });
  try {
    const { shown, text, ...section } = await read(secret.name);
    await setProviderSection(client, secret.name, section);
    write(terminal, json, { json: { stage, secret: secret.name, ...shown }, text });
  } finally {
    client.destroy();
  }
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

const set = (context: Context, options: GlobalOptions, provider: string): Promise<void> => {
  const credentials = credentialsOf(provider);
  return change(context, options, async (secret) => {
    const section = await readSection(context.terminal, provider, credentials);
    const fields = Object.keys(section);
    const text = `Set ${fields.join(', ')} of ${provider} in the secret ${secret}.\n`;
    return { name: provider, section, shown: { provider, fields }, text };
  });
};

/** Writes the order of the providers of both ports. Those that are not named follow in the order of the stage. */
const order = (context: Context, options: GlobalOptions, names: readonly string[]): Promise<void> => {
  for (const name of names) credentialsOf(name);
  return change(context, options, async (secret) => ({
    name: ORDER,
    section: names,
    shown: { order: names },
    text: `${names.join(', ')}: the order in the secret ${secret}. Functions read it within 15 minutes.\n`,
  }));
};

/** `providers set` and `providers order`. They need no deployed stack, since the secret must exist before the first deploy. */
export const addProviderCommands = (program: Command, terminal: Terminal, deployments: Deployments): void => {
  const context = { ...deployments, terminal };
  const providers = program.command('providers').description('manage the credentials of the providers');
  addCommand(
    providers,
    'set <provider>',
    'write the credentials of a provider to the provider secret of a stage',
    ['providers set jibit --stage prod', 'providers set jibit --stage prod < section.json'],
  ).action((provider: string, _options: object, command: Command) =>
    set(context, command.optsWithGlobals<GlobalOptions>(), provider),
  );
  addCommand(
    providers,
    'order <provider...>',
    'write which providers are called first, one after the other, without a deploy; the rest follows in the order of the stage',
    ['providers order zohal jibit --stage prod'],
  ).action((names: readonly string[], _options: object, command: Command) =>
    order(context, command.optsWithGlobals<GlobalOptions>(), names),
  );
};
