import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, existsSync, renameSync, statSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBase62 } from '#shared/base62.ts';
import { redirectLog } from '#shared/log.ts';
import { StartupError } from './startup-error.ts';

/** The files that the service keeps from one start to the next. They are git-ignored, and only their owner may read them. */
export type DataFolder = ReturnType<typeof filesIn>;

export const filesIn = (path: string) => ({
  path,
  /** Names the process of the service that uses the folder. */
  servicePidFile: join(path, 'service.pid'),
  tableFile: join(path, 'table.sqlite'),
  /** Names the process of the embedded database, so that the next start ends that of a service that was killed. */
  databasePidFile: join(path, 'database.pid'),
  hashSecretFile: join(path, 'hash-secret.json'),
  signingKeyFile: join(path, 'signing-key.pem'),
  logFile: join(path, 'service.log'),
  /** The URL and the keys of the service, for scripts. It exists only while the service is ready. */
  demoFile: join(path, 'demo.json'),
  /** The table holds only hashes, so this file keeps the keys from one start to the next. */
  demoKeysFile: join(path, 'demo-keys.json'),
});

/** The names of the files, with those that SQLite and the log add. */
const OWN_FILE = /^(?:table|database|hash|signing|service|demo)[-.].+$/;

/** 64 base62 characters hold 381 bits, more than HMAC-SHA-256 can use. */
const SECRET_LENGTH = 64;

/** How long a start waits for the process of a service that was killed. */
const KILLED_WITHIN_MS = 3000;
const POLL_MS = 50;

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Opens the data folder for this service alone, with its secrets and its log. Throws a StartupError if that is not possible. */
export const openFolder = async (path: string, parts: AsyncDisposableStack): Promise<DataFolder> => {
  // Also for the files of the database process.
  process.umask(0o077);
  const folder = filesIn(path);
  try {
    // Not recursive: below /proc that would not end.
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await access(path, constants.W_OK);
    // Before anything else: another start may be changing the files.
    await claim(folder);
    parts.defer(() => rm(folder.servicePidFile, { force: true }));
    await makePrivate(path);
  } catch (cause) {
    if (cause instanceof StartupError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartupError(`Nothing can be kept in ${path} (${code}): choose another folder with --data.`, {
      cause,
    });
  }
  // A service that was killed leaves this file behind.
  await rm(folder.demoFile, { force: true });
  await ensureSecrets(folder);
  redirectLog(openServiceLog(folder.logFile));
  return folder;
};

/** Takes the permissions of others away; of a folder that also has files of others, only from its own files. */
const makePrivate = async (path: string): Promise<void> => {
  const entries = await readdir(path, { withFileTypes: true });
  const own = entries.filter(({ name }) => OWN_FILE.test(name));
  if (own.length === entries.length) await chmod(path, 0o700);
  for (const entry of own) {
    // A start that is refused at this moment removes its drafts.
    if (entry.isFile()) await chmod(join(path, entry.name), 0o600).catch(ignoreMissing);
  }
};

/** Takes a folder for this process. Throws a StartupError if the process that its file names does not end in time. */
const claim = async ({ path, servicePidFile }: DataFolder): Promise<void> => {
  const found = await readIfThere(servicePidFile);
  const pid = Number(found);
  // A killed process is listed until the system has removed it.
  const untilMs = performance.now() + KILLED_WITHIN_MS;
  while (isOther(pid) && performance.now() < untilMs) await sleep(POLL_MS);
  if (isOther(pid)) {
    throw new StartupError(
      `Another service (process ${pid}) is using ${path}: stop it first, or choose another folder with --data. If that process is no service, remove ${servicePidFile}.`,
    );
  }
  // Only this process uses the two names. The file appears under its own name with its whole text, or not at all.
  const [old, own] = [`${servicePidFile}.${process.pid}.old`, `${servicePidFile}.${process.pid}.draft`];
  await writeFile(own, String(process.pid), { mode: 0o600 });
  try {
    if (found !== undefined) await moveAway(servicePidFile, old, found);
    // Of two starts at the same time, one fails here or in the line above.
    await link(own, servicePidFile);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new StartupError(`Another service is starting in ${path}.`, { cause });
  } finally {
    await Promise.all([old, own].map((file) => rm(file, { force: true })));
  }
};

/** Renames the file of an ended process. Rejects with EEXIST, and leaves the file, if another start has replaced it since it was read. */
const moveAway = async (file: string, to: string, expected: string): Promise<void> => {
  // Missing: the other start was faster.
  await rename(file, to).catch(ignoreMissing);
  const moved = await readIfThere(to);
  if (moved === undefined || moved === expected) return;
  await link(to, file);
  throw Object.assign(new Error('another start has claimed the folder'), { code: 'EEXIST' });
};

/** Returns whether another process has this number. A file that was not written whole names none. */
const isOther = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid < 1 || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
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
  if (existsSync(signingKeyFile)) return;
  // ES256.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writePrivateFile(signingKeyFile, String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
};

/**
 * Opens the log of the service, to be read with `tail -F` or `jq`, and returns what writes a line. A full file is renamed to `<path>.1`
 * and replaces the one before. Writes are synchronous, so that a killed process loses no line. A line that cannot be written is dropped:
 * a request must not fail because of its log line. The first one is reported, and again one after lines that were written.
 */
export const openServiceLog = (path: string, maxBytes = MAX_LOG_BYTES): ((line: string) => void) => {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let isFailing = false;
  return (line) => {
    try {
      if (size > maxBytes) {
        size = 0;
        renameSync(path, `${path}.1`);
      }
      appendFileSync(path, `${line}\n`, { mode: 0o600 });
      size += Buffer.byteLength(line) + 1;
      isFailing = false;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!isFailing) console.error(`${path} cannot be written (${code}): log lines are lost until it can.`);
      isFailing = true;
    }
  };
};

/** Writes a file that only its owner may read. The write is atomic: neither a reader nor a power failure sees half of it. */
const writePrivateFile = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.${process.pid}.draft`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
};

/** Writes a value as readable JSON, in the same way. */
export const writePrivateJson = (path: string, value: unknown): Promise<void> =>
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** Returns the text of a file; undefined if it does not exist. */
export const readIfThere = async (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(ignoreMissing);

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};
