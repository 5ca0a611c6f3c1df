import { text as readAll } from 'node:stream/consumers';
import * as v from 'valibot';
import { AdminError } from '#admin/admin-error.ts';
import { setProviderSection } from '#admin/operations/set-provider-credentials.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { type CredentialsSchema, ORDER } from '#shared/providers/provider.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import type { AddCommands, CommandResult, SessionOf } from '../command.ts';
import type { ProviderSecret } from '../connection.ts';
import { UsageError } from '../errors.ts';
import { askHidden, type Terminal } from '../terminal.ts';

/** The credentials of the providers that have some. */
const CREDENTIALS: Readonly<Record<string, CredentialsSchema>> = Object.fromEntries(
  [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS].flatMap(({ name, credentials }) =>
    credentials === undefined ? [] : [[name, credentials]],
  ),
);

type Session = SessionOf<ProviderSecret>;

/** Asks for each field on the terminal, without showing it. Fields with a default can be set by stdin only. */
const asked = async (provider: string, { entries }: CredentialsSchema): Promise<object> => {
  const section: Record<string, string | number> = {};
  for (const [name, entry] of Object.entries(entries)) {
    if ('default' in entry && entry.default !== undefined) continue;
    const isOptional = entry.type === 'optional';
    const text = await askHidden(`${provider} ${name}${isOptional ? ' (Enter for none)' : ''}: `);
    // A field that is a number in the secret is typed as digits.
    const value = v.is(entry as v.GenericSchema, text) ? text : Number(text);
    if (text !== '' || !isOptional) section[name] = value;
  }
  return section;
};

/**
 * Reads the credentials of a provider from the terminal, or as a JSON object from stdin. Throws `bad_input` with the names of the fields
 * that are missing, wrong or unknown, and never with a value.
 */
const readSection = async ({ isInteractive }: Terminal, provider: string): Promise<object> => {
  const credentials = CREDENTIALS[provider] ?? v.object({});
  const text = isInteractive
    ? JSON.stringify(await asked(provider, credentials))
    : await readAll(process.stdin);
  const schema = v.pipe(v.string(), v.parseJson(), v.strictObject(credentials.entries));
  const { success, issues = [] } = v.safeParse(schema, text);
  // The section as it was given: the schema would add its defaults.
  if (success) return JSON.parse(text);
  const wrong = new Set(issues.map(({ path }) => path?.[0]?.key));
  const required = Object.entries(credentials.entries).filter(([, { type }]) => type !== 'optional');
  throw new AdminError(
    'bad_input',
    wrong.has(undefined)
      ? `Stdin must be a JSON object with ${required.map(([name]) => name).join(', ')}. Nothing was changed.`
      : `Missing, wrong or unknown: ${[...wrong].join(', ')}. Nothing was changed.`,
  );
};

const set = async (session: Session, provider: string): Promise<CommandResult> => {
  const { stage, client, secretName } = session;
  const section = await readSection(session.terminal, provider);
  await setProviderSection(client, secretName, { name: provider, section });
  const fields = Object.keys(section);
  return {
    json: { stage, secret: secretName, provider, fields },
    text: `Set ${fields.join(', ')} of ${provider} in the secret ${secretName}.\n`,
  };
};

/** Writes the order of the providers of both ports. Those that are not named follow in the order of the stage. */
const order = async ({ stage, client, secretName }: Session, names: readonly string[]) => {
  await setProviderSection(client, secretName, { name: ORDER, section: names });
  return {
    json: { stage, secret: secretName, order: names },
    text: `${names.join(', ')}: the order in the secret ${secretName}. Functions read it within 15 minutes.\n`,
  };
};

/** `providers set|order`. They need no deployed stack, since the secret must exist before the first deploy. */
export const addProviderCommands: AddCommands = ({ groupOf, deployments }) => {
  const open = groupOf(async (options) => {
    if (options.stage !== undefined) return deployments.openProviderSecret(options.stage, options);
    throw new UsageError(
      'The local service uses the sandbox, which needs no credentials. Name a stage: --stage prod.',
    );
  });
  const add = open('providers', 'manage the credentials of the providers');
  const setHelp = 'write the credentials of a provider to the provider secret of a stage';
  const orderHelp =
    'write which providers are called first, one after the other, without a deploy; the rest follows in the order of the stage';
  for (const command of [
    add('set <provider>', setHelp, set, 'providers set jibit --stage prod < section.json'),
    add('order <provider...>', orderHelp, order, 'providers order zohal jibit --stage prod'),
  ]) {
    command.registeredArguments[0]?.choices(Object.keys(CREDENTIALS));
  }
};
