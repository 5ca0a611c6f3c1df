import { appendFileSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

/** The options of the log. */
export interface ServiceLogOptions {
  readonly maxBytes?: number;
  /** Receives the name of the error, such as `ENOSPC`, at the first line that cannot be written, and again after lines that were. */
  readonly onFailure: (code: string) => void;
}

/**
 * Opens the log of the service, to be read with `tail -F` or `jq`, and returns what writes a line. A full file is renamed to `<path>.1`
 * and replaces the one before. Writes are synchronous, so that a killed process loses no line. A line that cannot be written is dropped:
 * a request must not fail because of its log line.
 */
export const openServiceLog = (
  path: string,
  { maxBytes = MAX_BYTES, onFailure }: ServiceLogOptions,
): ((line: string) => void) => {
  const append = (text: string): void => appendFileSync(path, text, { mode: 0o600 });
  append('');
  let { size } = statSync(path);
  let isFailing = false;
  return (line) => {
    try {
      if (size > maxBytes) {
        size = 0;
        renameSync(path, `${path}.1`);
      }
      append(`${line}\n`);
      size += Buffer.byteLength(line) + 1;
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure((error as NodeJS.ErrnoException).code ?? 'unknown error');
      isFailing = true;
    }
  };
};
