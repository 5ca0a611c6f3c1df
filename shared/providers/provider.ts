import * as v from 'valibot';
import { errorFields, logEvent } from '#shared/log.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { parseJson } from './reply.ts';
import { type CallSite, ProviderUnavailable, untilAborted } from './unavailable.ts';

export type CredentialsSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

export interface Provider<Port> {
  readonly name: string;
  /** Undefined for a provider without credentials. */
  readonly credentials: CredentialsSchema | undefined;
  /** It answers by test identities: its failures say nothing about a provider. */
  readonly isSandbox?: true;
  /** Throws an error that names each credential that is missing or malformed. */
  open(section: unknown): Port;
}

/** State of the port (access tokens) lives as long as the credentials. */
export const provider = <Schema extends CredentialsSchema, Port>({
  name,
  credentials,
  open,
}: {
  readonly name: string;
  readonly credentials: Schema;
  readonly open: (credentials: v.InferOutput<Schema>) => Port;
}): Provider<Port> => ({
  name,
  credentials,
  open(section) {
    if (section === undefined) throw new Error(`the provider secret has no section "${name}"`);
    const result = v.safeParse(credentials, section);
    if (result.success) return open(result.output);
    // Only the names: an issue of the schema quotes the value.
    const wrong = result.issues.map(({ path }) => [name, ...(path ?? []).map(({ key }) => key)].join('.'));
    throw new Error(`missing or wrong in the provider secret: ${[...new Set(wrong)].join(', ')}`);
  },
});

/** Throws if a name is unknown or repeated, or if there is none. */
export const providersNamed = <P extends { readonly name: string }>(
  names: readonly string[],
  known: readonly P[],
): readonly P[] => {
  const choice = known.map(({ name }) => name).join(', ');
  if (names.length === 0) throw new Error(`no provider is named; there are: ${choice}`);
  if (new Set(names).size !== names.length) throw new Error(`a provider is named twice: ${names.join(', ')}`);
  return names.map((wanted) => {
    const found = known.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`unknown provider "${wanted}"; there are: ${choice}`);
    return found;
  });
};

export const credential = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/** True for https, since credentials and national ids are sent to it, and for http on loopback, where the simulators run. */
export const isEncryptedOrLocal = (text: string): boolean => {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
};

/** The optional `base_url` in a provider's section: `https://` in lower case, without slashes at its end. */
export const baseUrl = (standard: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.check(isEncryptedOrLocal, 'must be an https URL'),
      v.transform((text) => new URL(text).href.replace(/\/+$/, '')),
    ),
    standard,
  );

/** Throws ProviderUnavailable: `misconfigured` without valid credentials. */
export type OpenPort<Port> = (site: CallSite, signal: AbortSignal) => Promise<Port>;

/** The list of the provider secret that names the providers of both ports, the first choice first. */
export const ORDER = 'order';

/** Opens a provider at the first call and whenever the secret has changed. */
export const portOpener = <Port>(provider: Provider<Port>, secret: SecretSource): OpenPort<Port> => {
  let opened: { readonly text: string; readonly port: Port } | undefined;

  return async (site, signal) => {
    try {
      const text =
        provider.credentials === undefined ? '{}' : await untilAborted(site, secret.read(), signal);
      if (opened?.text !== text) opened = { text, port: provider.open(sectionOf(provider.name, text)) };
      return opened.port;
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error;
      logEvent('provider_failed', {
        provider: provider.name,
        provider_operation: site.operation,
        reason: 'misconfigured',
        ...errorFields(error),
      });
      throw new ProviderUnavailable(site, 'misconfigured', { delivery: 'not_reached' });
    }
  };
};

/** The list `order` of the secret comes first, so an operator can change the order without a deploy; the others keep that of the stage. */
export const inSecretOrder = async <Target extends CallSite>(
  targets: readonly Target[],
  secret: SecretSource,
  signal: AbortSignal,
): Promise<readonly Target[]> => {
  const [site] = targets;
  if (site === undefined || targets.length === 1) return targets;
  try {
    const order = v.parse(
      v.array(v.string()),
      sectionOf(ORDER, await untilAborted(site, secret.read(), signal)),
    );
    const rankOf = ({ provider: name }: CallSite): number => [...order, name].indexOf(name);
    return targets.toSorted((one, other) => rankOf(one) - rankOf(other));
  } catch {
    // An unreadable secret fails when a provider is opened.
    return targets;
  }
};

/** Throws errors that do not quote the secret. */
const sectionOf = (name: string, text: string): unknown => {
  const secret = v.safeParse(v.record(v.string(), v.unknown()), parseJson(text));
  if (!secret.success) throw new Error('the provider secret is not a JSON object with a section a provider');
  return secret.output[name];
};
