import { text as readAll } from 'node:stream/consumers';
import * as v from 'valibot';
import { refusal } from '#admin/operations/refusal.ts';
import type { CredentialsSchema } from '#shared/providers/provider.ts';
import { askHidden } from './hidden-input.ts';
import type { Terminal } from './terminal.ts';

/** The fields without a default; the others can be set by stdin. */
const requiredFields = ({ entries }: CredentialsSchema): readonly string[] =>
  Object.keys(entries).filter((name) => entries[name]?.type !== 'optional');

/** A field that is a number in the secret is typed as digits. */
const typedValue = (schema: v.GenericSchema | undefined, text: string): unknown => {
  const isNumber = schema !== undefined && !v.is(schema, text) && v.is(schema, Number(text));
  return isNumber ? Number(text) : text;
};

const asked = async (credentials: CredentialsSchema, provider: string): Promise<unknown> => {
  const section: Record<string, unknown> = {};
  for (const name of requiredFields(credentials)) {
    const text = await askHidden(`${provider} ${name}: `);
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
export const readSection = async (
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
