import { type CallSite, unavailableBy } from './unavailable.ts';

/** The result of work that others wait for too: when the signal ends, this caller leaves and the work goes on. */
export const untilAborted = async <T>(site: CallSite, work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const ended = Promise.withResolvers<never>();
  const leave = () => ended.reject(unavailableBy(site, signal, true));
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
};
