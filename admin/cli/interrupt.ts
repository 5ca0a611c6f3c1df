/** npm forwards a Ctrl-C that the terminal has sent to this process already. Both arrive within this time. */
const SAME_KEYSTROKE_MS = 500;

/**
 * Returns a signal that Ctrl-C or another of `signals` aborts, instead of ending the process; a second one ends it. `restore` removes the
 * handlers.
 */
export const abortOnInterrupt = (
  signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'],
): { readonly signal: AbortSignal; restore(): void } => {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    if (firstAtMs !== undefined && performance.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
    firstAtMs ??= performance.now();
    controller.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    restore() {
      for (const name of signals) process.off(name, onSignal);
    },
  };
};
