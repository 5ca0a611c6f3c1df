import * as v from 'valibot';

/** One provider of a port, opened with its section of the provider secret. */
export interface Provider<Port> {
  readonly name: string;
  /** Speaks the port in the provider's wire format. Throws an error that names each credential that is missing or wrong. */
  open(section: unknown): Port;
}

/**
 * What a provider's file exports: its name, the form of its credentials, and the port that it speaks with them. What that port
 * remembers (access tokens) lives as long as the credentials.
 */
export const provider = <Schema extends v.GenericSchema, Port>({
  name,
  credentials,
  open,
}: {
  readonly name: string;
  readonly credentials: Schema;
  readonly open: (credentials: v.InferOutput<Schema>) => Port;
}): Provider<Port> => ({
  name,
  open(section) {
    if (section === undefined) throw new Error(`the provider secret has no section "${name}"`);
    const result = v.safeParse(credentials, section);
    if (result.success) return open(result.output);
    // The names alone: an issue of the schema quotes the value.
    const wrong = result.issues.map(({ path }) => [name, ...(path ?? []).map(({ key }) => key)].join('.'));
    throw new Error(`missing or wrong in the provider secret: ${[...new Set(wrong)].join(', ')}`);
  },
});
