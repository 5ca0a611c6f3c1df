import * as v from 'valibot';
import type { Clock } from '#shared/clock.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import type { Provider } from './provider.ts';
import { type CallSite, ProviderUnavailable, unavailable } from './unavailable.ts';
import { untilAborted } from './until-aborted.ts';

/** While a provider goes on refusing our credentials, the secret is not read afresh more often than this. */
const FRESH_READ_EVERY_MS = 10_000;

/** A provider opened with the credentials of the moment. */
export interface Connection<Port> {
  /** Opens it, at the first use. Throws ProviderUnavailable (`misconfigured`) if its credentials cannot be had. */
  open(site: CallSite, signal: AbortSignal): Promise<Port>;
  /** Calls it; if it says that the credentials are wrong, reads the secret afresh and, if that holds others, calls it once more. */
  use<T>(port: Port, call: (port: Port) => Promise<T>): Promise<T>;
}

/** Opens a provider from its section of the provider secret, lazily, and again when the section has changed. */
export const connection = <Port>(
  provider: Provider<Port>,
  secret: SecretSource,
  clock: Clock,
): Connection<Port> => {
  let opened: { readonly text: string; readonly port: Port } | undefined;
  let freshRead: { readonly at: number; readonly port: Promise<Port> } | undefined;

  const read = async (fresh: boolean): Promise<Port> => {
    const text = await secret.read(fresh ? { fresh } : {});
    if (opened?.text !== text) opened = { text, port: provider.open(sectionOf(provider.name, text)) };
    return opened.port;
  };

  const openNow = async (site: CallSite): Promise<Port> => {
    try {
      return await read(false);
    } catch (error) {
      logEvent('provider_misconfigured', { provider: provider.name, ...namedError(error) });
      throw unavailable(site, 'misconfigured', { refused: true });
    }
  };

  /** What the secret says now, asked by all who were refused at the same time in one read. */
  const reopen = async (refused: Port): Promise<Port> => {
    if (opened !== undefined && opened.port !== refused) return opened.port;
    const now = clock();
    if (freshRead === undefined || now - freshRead.at >= FRESH_READ_EVERY_MS) {
      freshRead = { at: now, port: read(true) };
    }
    return freshRead.port;
  };

  return {
    open: (site, signal) => untilAborted(site, openNow(site), signal),
    async use(port, call) {
      try {
        return await call(port);
      } catch (error) {
        if (!(error instanceof ProviderUnavailable && error.reason === 'credentials')) throw error;
        const current = await reopen(port).catch(() => port);
        if (current === port) throw error;
        return call(current);
      }
    },
  };
};

/** Errors here never quote the secret, as those of JSON.parse do. */
const sectionOf = (name: string, text: string): unknown => {
  const secret = v.safeParse(v.record(v.string(), v.unknown()), parse(text));
  if (!secret.success) throw new Error('the provider secret is not a JSON object with a section a provider');
  return secret.output[name];
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const namedError = (error: unknown) => {
  const { error_name, error_message } = errorFields(error) as { error_name: string; error_message?: string };
  return { error_name, error_message };
};
