/** One Ctrl-C under npm reaches this process twice: once from the terminal and once from npm, which hands it on. */
const SAME_KEYSTROKE_MS = 500;

/** A signal that is aborted by Ctrl-C or a kill, in place of ending the process; a later one ends it. `restore` puts things back. */
export const untilInterrupted = (): { readonly signal: AbortSignal; restore(): void } => {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    if (firstAtMs !== undefined && Date.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
    firstAtMs ??= Date.now();
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    restore() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
};
