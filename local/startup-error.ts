/** The reason why the service cannot start, in one sentence. The terminal shows it without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

const FULL_DISK_CODES: readonly string[] = ['ENOSPC', 'EDQUOT'];
/** The embedded database has no code for it. */
const FULL_DATABASE = /database or disk is full/;

/** Returns what a person can do about an error of the start; the stack of an error that nobody expected. */
export const startupReason = (error: unknown, folder: string): string => {
  // A part that was started fails to end for the same reason: the first error is the one that counts.
  if (error instanceof SuppressedError) return startupReason(error.suppressed, folder);
  const { code = '', message, stack } = error as NodeJS.ErrnoException;
  if (FULL_DISK_CODES.includes(code) || FULL_DATABASE.test(message)) {
    return `The disk of ${folder} is full (${code === 'EDQUOT' ? code : 'ENOSPC'}): free some space, or choose another folder with --data.`;
  }
  return error instanceof StartupError ? message : String(stack);
};

/** A file of the data folder that cannot be read. */
export const damagedFile = (path: string, reason: string): StartupError =>
  new StartupError(`${path} is damaged (${reason}): restore it, or choose another folder with --data.`);
