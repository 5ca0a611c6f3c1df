import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { randomBase62 } from '#shared/base62.ts';
import { redirectLog } from '#shared/log.ts';
import { writePrivateFile } from './private-file.ts';
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

/** The files that the service keeps from one start to the next. They are git-ignored, and only their owner may read them. */
export type DataFolder = ReturnType<typeof filesIn>;

export const filesIn = (path: string) => ({
  path,
  tableFile: join(path, 'table.sqlite'),
  /** The process of the embedded database. */
  databasePidFile: join(path, 'database.pid'),
  hashSecretFile: join(path, 'hash-secret.json'),
  signingKeyFile: join(path, 'signing-key.pem'),
  logFile: join(path, 'service.log'),
  /** The reference page and the guides. */
  pagesFolder: join(path, 'pages'),
  /** The URL and the keys of the service, for scripts. It exists only while the service is ready. */
  demoFile: join(path, 'demo.json'),
});

/** The names of the files, also of earlier versions. */
const OWN_FILE = /^(?:lock|pages|(?:table|database|hash|signing|provider|service|demo|admin|usage)[-.].+)$/;

/** 64 base62 characters hold 381 bits, more than HMAC-SHA-256 can use. */
const SECRET_LENGTH = 64;

/** The result code of SQLite for a file that another process has locked. */
const SQLITE_BUSY = 5;

/** Opens the data folder for this service alone, with its secrets and its log. Throws a StartupError if that is not possible. */
export const openFolder = async (
  options: FolderOptions,
  parts: AsyncDisposableStack,
): Promise<DataFolder> => {
  // Also for the files of the database process.
  process.umask(0o077);
  const folder = filesIn(await openLocked(options, parts));
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
): Promise<string> => {
  try {
    const path = await makeFolder(wanted);
    parts.defer(lockFolder(path));
    return path;
  } catch (error) {
    if (!inMemory || !(error instanceof StartupError)) throw error;
  }
  const path = await mkdtemp(join(tmpdir(), 'buyer-linking-'));
  parts.defer(() => rm(path, { recursive: true, force: true }));
  onProgress(`${wanted} cannot be used: the files of this service are in ${path} until its end.`);
  return path;
};

/** Creates the folder if it is missing, and takes the permissions of others away. Throws a StartupError if nothing can be written there. */
const makeFolder = async (wanted: string): Promise<string> => {
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    await access(wanted, constants.W_OK);
    const files = await readdir(wanted, { withFileTypes: true });
    // A folder with files of others, such as /tmp, keeps its permissions.
    if (files.every(({ name }) => OWN_FILE.test(name))) {
      await chmod(wanted, 0o700);
      for (const file of files) if (file.isFile()) await chmod(join(wanted, file.name), 0o600);
    }
    return await realpath(wanted);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartupError(`Nothing can be kept in ${wanted} (${code}): choose another folder with --data.`, {
      cause,
    });
  }
};

/**
 * Locks a folder for one service; returns a function that unlocks it. The lock is SQLite's on an empty file: the operating system ends
 * it with the process, also when that is killed.
 */
const lockFolder = (path: string): (() => void) => {
  try {
    const lock = new DatabaseSync(join(path, 'lock'), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (cause) {
    const { errcode, message } = cause as { errcode?: number; message: string };
    const reason =
      errcode === SQLITE_BUSY
        ? `Another service is using ${path}: stop it first`
        : `${path} cannot be locked (${message}): remove its file "lock"`;
    throw new StartupError(`${reason}, or choose another folder with --data.`, { cause });
  }
};

/**
 * Creates the hash secret and the signing key once. With another hash secret nothing in the table would be found again, so a table
 * without its secret is refused with a StartupError.
 */
const ensureSecrets = async ({ hashSecretFile, signingKeyFile, tableFile }: DataFolder): Promise<void> => {
  if (existsSync(tableFile) && !existsSync(hashSecretFile)) {
    throw new StartupError(
      `${hashSecretFile} is missing, and nothing in ${tableFile} is found without it: restore it, remove the table too, or choose another folder with --data.`,
    );
  }
  if (!existsSync(hashSecretFile)) {
    await writePrivateFile(hashSecretFile, JSON.stringify({ current: randomBase62(SECRET_LENGTH) }));
  }
  if (!existsSync(signingKeyFile)) await writePrivateFile(signingKeyFile, newSigningKey());
};

/** A P-256 private key, for ES256. */
const newSigningKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
