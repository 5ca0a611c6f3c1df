import { chmod, open, readFile, rename } from 'node:fs/promises';

/** Writes a file that only its owner may read, whole or not at all: a reader never sees half of it, nor does a power cut leave it. */
export const writePrivateFile = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${process.pid}.draft`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  // The mode above counts only for a file that did not exist.
  await chmod(draft, 0o600);
  await rename(draft, path);
};

/** The text of a file; undefined if there is none. */
export const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Makes a private file if it is not there. What is there is never changed. */
export const makePrivateFileOnce = async (path: string, make: () => string): Promise<void> => {
  if ((await readIfThere(path)) === undefined) await writePrivateFile(path, make());
};
