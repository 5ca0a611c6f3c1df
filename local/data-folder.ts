import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { randomBase62 } from '#shared/base62.ts';
import { makePrivateFileOnce } from './private-file.ts';
import { StartupError } from './startup-error.ts';

/** The files that the service keeps from one start to the next. They are git-ignored, and only their owner may read them. */
export type DataFolder = Awaited<ReturnType<typeof openDataFolder>>;

/** 64 base62 characters hold 381 bits, more than HMAC-SHA-256 can use. */
const SECRET_LENGTH = 64;

/** The result code of SQLite for a file that another process has locked. */
const SQLITE_BUSY = 5;

/** Opens the folder and creates it if it is missing. Throws a StartupError if nothing can be written there. */
export const openDataFolder = async (wanted: string) => {
  const path = await makeFolder(wanted);
  return {
    path,
    tableFile: join(path, 'table.sqlite'),
    hashSecretFile: join(path, 'hash-secret.json'),
    signingKeyFile: join(path, 'signing-key.pem'),
    usagePlansFile: join(path, 'usage-plans.json'),
    logFile: join(path, 'service.log'),
    /** The reference page and the guides, written at each start. */
    pagesFolder: join(path, 'pages'),
    /** The URL and the keys of the service, for scripts. It exists only while the service is ready. */
    demoFile: join(path, 'demo.json'),
  };
};

const makeFolder = async (wanted: string): Promise<string> => {
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    await access(wanted, constants.W_OK);
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
export const lockFolder = (path: string): (() => void) => {
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
export const ensureSecrets = async ({
  hashSecretFile,
  signingKeyFile,
  tableFile,
}: DataFolder): Promise<void> => {
  if (existsSync(tableFile) && !existsSync(hashSecretFile)) {
    throw new StartupError(
      `${hashSecretFile} is missing, and nothing in ${tableFile} is found without it: restore it, remove the table too, or choose another folder with --data.`,
    );
  }
  await makePrivateFileOnce(hashSecretFile, () => JSON.stringify({ current: randomBase62(SECRET_LENGTH) }));
  await makePrivateFileOnce(signingKeyFile, newSigningKey);
};

/** A P-256 private key, for ES256. */
const newSigningKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
