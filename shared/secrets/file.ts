import { readFile } from 'node:fs/promises';
import type { SecretSource } from './port.ts';

const SCHEME = 'file:';

/** Returns the path in an address `file:<path>`; undefined for any other address. */
export const pathIn = (address: string): string | undefined =>
  address.startsWith(SCHEME) ? address.slice(SCHEME.length) : undefined;

/** A secret in a file, for one machine. Reads the file each time, so that an edit takes effect at once. */
export const fileSecret = (path: string): SecretSource => ({ read: () => readFile(path, 'utf8') });
