import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Opens the log of the service, to be read with `tail -f` or `jq`, and returns what writes a line. A full file is renamed to `<path>.1`
 * and replaces the one before. Writes are synchronous, so that a killed process loses no line.
 */
export const openServiceLog = (path: string, maxBytes = MAX_BYTES): ((line: string) => void) => {
  const open = (): number => openSync(path, 'a', 0o600);
  let file = open();
  let size = fstatSync(file).size;
  return (line) => {
    if (size > maxBytes) {
      closeSync(file);
      renameSync(path, `${path}.1`);
      file = open();
      size = 0;
    }
    size += writeSync(file, `${line}\n`);
  };
};
