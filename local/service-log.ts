import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** A log file with rotation: with its predecessor it is at most twice the maximum size. */
export interface ServiceLog {
  write(line: string): void;
  close(): void;
}

const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Opens the log of the service, to be read with `tail -f` or `jq`. A full file is renamed to `<path>.1` and replaces the one before.
 * Writes are synchronous, so that a killed process loses no line.
 */
export const openServiceLog = (path: string, maxBytes = MAX_BYTES): ServiceLog => {
  const open = (): number => openSync(path, 'a', 0o600);
  let file: number | undefined = open();
  let size = fstatSync(file).size;
  return {
    write(line) {
      if (file === undefined) return;
      if (size > maxBytes) {
        closeSync(file);
        renameSync(path, `${path}.1`);
        file = open();
        size = 0;
      }
      size += writeSync(file, `${line}\n`);
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};
