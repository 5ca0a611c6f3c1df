import { readFile } from 'node:fs/promises';
import type { SecretSource } from './port.ts';

/** A secret in a file, for one machine. Reads the file each time, so that an edit takes effect at once. */
export const fileSecret = (path: string): SecretSource => ({ read: () => readFile(path, 'utf8') });
