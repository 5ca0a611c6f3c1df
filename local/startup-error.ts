/** The reason why the service cannot start, in one sentence. The terminal shows it without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** A file of the data folder that cannot be read. */
export const damagedFile = (path: string, reason: string): StartupError =>
  new StartupError(`${path} is damaged (${reason}): restore it, or choose another folder with --data.`);
