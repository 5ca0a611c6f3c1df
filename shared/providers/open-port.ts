import * as v from 'valibot';
import { errorFields, logEvent } from '#shared/log.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { parseJson } from './exchange.ts';
import type { Provider } from './provider.ts';
import { type CallSite, ProviderUnavailable, untilAborted } from './unavailable.ts';

/** Returns the port of a provider. Throws ProviderUnavailable: `misconfigured` without valid credentials. */
export type OpenPort<Port> = (site: CallSite, signal: AbortSignal) => Promise<Port>;

/** Opens a provider with its section of the provider secret, at the first call and whenever the secret has changed. */
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
      logEvent('provider_misconfigured', { provider: provider.name, ...errorFields(error) });
      throw new ProviderUnavailable(site, 'misconfigured', { delivery: 'not_reached' });
    }
  };
};

/** Throws errors that do not quote the secret. */
const sectionOf = (name: string, text: string): unknown => {
  const secret = v.safeParse(v.record(v.string(), v.unknown()), parseJson(text));
  if (!secret.success) throw new Error('the provider secret is not a JSON object with a section a provider');
  return secret.output[name];
};
