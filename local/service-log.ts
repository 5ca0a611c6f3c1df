import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

/** The options of the log. */
export interface ServiceLogOptions {
  readonly maxBytes?: number;
  /** Receives the name of the error, such as `ENOSPC`, at the first line that cannot be written, and again after lines that were. */
  readonly onFailure: (code: string) => void;
}

/**
 * Opens the log of the service, to be read with `tail -f` or `jq`, and returns what writes a line. A full file is renamed to `<path>.1`
 * and replaces the one before. Writes are synchronous, so that a killed process loses no line. A line that cannot be written is dropped:
 * a request must not fail because of its log line.
 */
export const openServiceLog = (
  path: string,
  { maxBytes = MAX_BYTES, onFailure }: ServiceLogOptions,
): ((line: string) => void) => {
  const open = (): number => openSync(path, 'a', 0o600);
  let file = open();
  let size = fstatSync(file).size;
  let isFailing = false;
  const write = (line: string): void => {
    if (size > maxBytes) {
      // On a full disk the file may be renamed already and the new one missing.
      if (existsSync(path)) renameSync(path, `${path}.1`);
      const next = open();
      closeSync(file);
      file = next;
      size = 0;
    }
    size += writeSync(file, `${line}\n`);
  };
  return (line) => {
    try {
      write(line);
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure((error as NodeJS.ErrnoException).code ?? 'unknown error');
      isFailing = true;
    }
  };
};
