import { ProviderUnavailable } from './unavailable.ts';

/** Whether the next provider may be asked after this failure. */
export type MayGoOn = (failure: ProviderUnavailable) => boolean;

/** An inquiry may always be put to the next provider, unless nobody waits for its answer any more. */
export const unlessAborted: MayGoOn = ({ reason }) => reason !== 'aborted';

/** A message may go to the next provider only if the one before surely did not take it: nobody must get two codes. */
export const ifSurelyRefused: MayGoOn = ({ reason, refused }) => refused && reason !== 'aborted';

/**
 * Asks one provider after another until one answers. A verdict, whatever it says, ends it. If none answers, the failure of the last
 * one asked is thrown, with the shortest wait that any of them named.
 */
export const firstAvailable = async <T>(
  calls: readonly (() => Promise<T>)[],
  mayGoOn: MayGoOn,
): Promise<T> => {
  const waits: number[] = [];
  for (const [index, call] of calls.entries()) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error;
      if (error.retryAfterSeconds !== undefined) waits.push(error.retryAfterSeconds);
      if (index < calls.length - 1 && mayGoOn(error)) continue;
      if (waits.length === 0) throw error;
      const { provider, operation, reason, refused, cause } = error;
      const retryAfterSeconds = Math.min(...waits);
      throw new ProviderUnavailable({ provider, operation, reason, refused, cause, retryAfterSeconds });
    }
  }
  throw new Error('no provider is configured');
};
