import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

/** A file of lines that never grows beyond twice its bound. */
export interface ServiceLog {
  write(line: string): void;
  close(): void;
}

const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Opens the log of the service, to be read with `tail -f` or `jq`. When it is full it becomes `<path>.1`, in place of the one before.
 * Each line is written at once, so that none is lost with a process that is killed.
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
