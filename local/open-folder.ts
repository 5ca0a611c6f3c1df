import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redirectLog } from '#shared/log.ts';
import { type DataFolder, ensureSecrets, lockFolder, openDataFolder } from './data-folder.ts';
import { openServiceLog } from './service-log.ts';
import { StartupError } from './startup-error.ts';

/** The options of the data folder. */
export interface FolderOptions {
  /** The wanted folder. */
  readonly folder: string;
  /** A service that keeps nothing does not need the wanted folder. */
  readonly inMemory: boolean;
  readonly onProgress: (sentence: string) => void;
  /** Receives a sentence about a failure of the running service that no response shows. */
  readonly onTrouble: (sentence: string) => void;
}

/** Opens the data folder for this service alone, with its secrets and its log. Throws a StartupError if that is not possible. */
export const openFolder = async (
  options: FolderOptions,
  parts: AsyncDisposableStack,
): Promise<DataFolder> => {
  const folder = await openLocked(options, parts);
  // A service that was killed leaves this file behind.
  await rm(folder.demoFile, { force: true });
  await ensureSecrets(folder);
  redirectLog(
    openServiceLog(folder.logFile, {
      onFailure: (code) =>
        options.onTrouble(`${folder.logFile} cannot be written (${code}): log lines are lost until it can.`),
    }),
  );
  return folder;
};

/** Returns the wanted folder; in memory, a temporary one if another service uses the wanted one or nothing can be kept there. */
const openLocked = async (
  { folder: wanted, inMemory, onProgress }: FolderOptions,
  parts: AsyncDisposableStack,
): Promise<DataFolder> => {
  try {
    const folder = await openDataFolder(wanted);
    parts.defer(lockFolder(folder.path));
    return folder;
  } catch (error) {
    if (!inMemory || !(error instanceof StartupError)) throw error;
  }
  const folder = await openDataFolder(await mkdtemp(join(tmpdir(), 'buyer-linking-')));
  parts.defer(() => rm(folder.path, { recursive: true, force: true }));
  onProgress(`${wanted} cannot be used: the files of this service are in ${folder.path} until its end.`);
  return folder;
};
