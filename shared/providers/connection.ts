import * as v from 'valibot';
import type { Clock } from '#shared/clock.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { parseJson } from './exchange.ts';
import type { Provider } from './provider.ts';
import { type CallSite, ProviderUnavailable, untilAborted } from './unavailable.ts';

/** The shortest time between two new reads of the secret while a provider keeps refusing our credentials. */
const FRESH_READ_EVERY_MS = 10_000;

/**
 * Opens a provider with its section of the provider secret, at the first use and whenever the secret has changed.
 *
 * `open` returns the port. It throws ProviderUnavailable (`misconfigured`) without valid credentials.
 * `use` calls the port. If the provider refuses the credentials, it reads the secret again and, if that has changed, calls once more.
 */
export const connection = <Port>(provider: Provider<Port>, secret: SecretSource, clock: Clock) => {
  let opened: { readonly text: string; readonly port: Port } | undefined;
  let freshRead: { readonly atMs: number; readonly port: Promise<Port> } | undefined;

  const read = async (fresh: boolean): Promise<Port> => {
    const text = provider.credentials === undefined ? '{}' : await secret.read({ fresh });
    if (opened?.text !== text) opened = { text, port: provider.open(sectionOf(provider.name, text)) };
    return opened.port;
  };

  const openNow = async (site: CallSite): Promise<Port> => {
    try {
      return await read(false);
    } catch (error) {
      logEvent('provider_misconfigured', { provider: provider.name, ...errorFields(error) });
      throw new ProviderUnavailable(site, 'misconfigured', { delivery: 'not_sent' });
    }
  };

  /** Opens the provider with the secret as it is now. Concurrent callers share one read. */
  const reopen = async (refused: Port): Promise<Port> => {
    if (opened !== undefined && opened.port !== refused) return opened.port;
    const nowMs = clock();
    if (freshRead === undefined || nowMs - freshRead.atMs >= FRESH_READ_EVERY_MS) {
      freshRead = { atMs: nowMs, port: read(true) };
    }
    return freshRead.port;
  };

  return {
    open: (site: CallSite, signal: AbortSignal): Promise<Port> => untilAborted(site, openNow(site), signal),
    async use<T>(port: Port, call: (port: Port) => Promise<T>): Promise<T> {
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

/** Throws errors that do not quote the secret. */
const sectionOf = (name: string, text: string): unknown => {
  const secret = v.safeParse(v.record(v.string(), v.unknown()), parseJson(text));
  if (!secret.success) throw new Error('the provider secret is not a JSON object with a section a provider');
  return secret.output[name];
};
