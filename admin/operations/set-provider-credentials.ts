import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as v from 'valibot';
import { AdminError } from '#admin/admin-error.ts';

const secretSchema = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));

/** Returns the sections of the provider secret; undefined if there is no secret. */
const readSections = async (
  client: SecretsManagerClient,
  SecretId: string,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
    const parsed = v.safeParse(secretSchema, SecretString);
    if (parsed.success) return parsed.output;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
  throw new AdminError(
    'bad_input',
    `The secret ${SecretId} is not a JSON object with a section for each provider. Nothing was changed.`,
  );
};

/**
 * Writes the section of one provider, or the order of all, into the provider secret and keeps the other sections. Creates the secret if there
 * is none. `section` must be valid.
 */
export const setProviderSection = async (
  client: SecretsManagerClient,
  secretName: string,
  { name, section }: { readonly name: string; readonly section: object },
): Promise<void> => {
  const before = await readSections(client, secretName);
  const SecretString = JSON.stringify({ ...before, [name]: section });
  if (before === undefined) await client.send(new CreateSecretCommand({ Name: secretName, SecretString }));
  else await client.send(new PutSecretValueCommand({ SecretId: secretName, SecretString }));
};
