import { readFile } from 'node:fs/promises';
import type { SecretSource } from './port.ts';

/** A secret in a file, for one machine. Read each time: a file is cheap, and an edit acts at once. */
export const fileSecret = (path: string): SecretSource => ({ read: () => readFile(path, 'utf8') });
