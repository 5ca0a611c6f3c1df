import { readFile, rename, writeFile } from 'node:fs/promises';

/** Writes a file that only its owner may read. The write is atomic: neither a reader nor a power failure sees half of it. */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
};

/** Writes a value as readable JSON, in the same way. */
export const writePrivateJson = (path: string, value: unknown): Promise<void> =>
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** Returns the text of a file; undefined if it does not exist. */
export const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
