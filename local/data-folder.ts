import { generateKeyPairSync } from 'node:crypto';
import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBase62 } from '#shared/base62.ts';
import { makePrivateFileOnce } from './private-file.ts';
import { StartupError } from './startup-error.ts';

/** Where the service keeps what it must find again: git-ignored, readable by its owner alone. */
export interface DataFolder {
  readonly path: string;
  readonly tableFile: string;
  readonly hashSecretFile: string;
  readonly signingKeyFile: string;
  readonly providerSecretFile: string;
  readonly controlPlaneFile: string;
  readonly logFile: string;
  /** Tells scripts that the service is ready, and its keys. It is there only while the service runs. */
  readonly demoFile: string;
}

/** 64 of 62 letters: 381 bits, more than HMAC-SHA-256 can use. */
const SECRET_LENGTH = 64;

/** The folder, made if it is not there. */
export const openDataFolder = async (wanted: string): Promise<DataFolder> => {
  const path = await makeFolder(wanted);
  return {
    path,
    tableFile: join(path, 'table.sqlite'),
    hashSecretFile: join(path, 'hash-secret.json'),
    signingKeyFile: join(path, 'signing-key.pem'),
    providerSecretFile: join(path, 'provider-secret.json'),
    controlPlaneFile: join(path, 'control-plane.json'),
    logFile: join(path, 'service.log'),
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

/** The hash secret and the signing key, made once: with others, nothing in the table would be found again. */
export const ensureSecrets = async ({ hashSecretFile, signingKeyFile }: DataFolder): Promise<void> => {
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
