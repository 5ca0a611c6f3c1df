import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Tags of ASN.1 that a certificate is made of. */
const TAG = { integer: 2, bits: 3, bytes: 4, oid: 6, utf8: 12, sequence: 48, set: 49, utcTime: 23 } as const;

const ECDSA_WITH_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const SUBJECT_ALTERNATIVE_NAME = '0603551d11';
const ONE_DAY_MS = 86_400_000;

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** One value in DER: its tag, its length, itself. */
const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};

const utcTime = (ms: number): Buffer =>
  der(
    TAG.utcTime,
    Buffer.from(
      `${new Date(ms)
        .toISOString()
        .replaceAll(/[-:T]|\..*/g, '')
        .slice(2)}Z`,
    ),
  );

const pem = (label: string, content: Buffer): string =>
  `-----BEGIN ${label}-----\n${content.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

/** A certificate for 127.0.0.1 that lasts a day, with its key. Made anew for each run, so that no key lies in the repository. */
export const selfSignedCertificate = (): { readonly cert: string; readonly key: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, hex(ECDSA_WITH_SHA256));
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, hex(COMMON_NAME), der(TAG.utf8, Buffer.from('bench')))),
  );
  const address = der(TAG.sequence, der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(
    0xa3,
    der(TAG.sequence, der(TAG.sequence, hex(SUBJECT_ALTERNATIVE_NAME), der(TAG.bytes, address))),
  );
  const body = der(
    TAG.sequence,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(TAG.sequence, utcTime(Date.now() - ONE_DAY_MS), utcTime(Date.now() + ONE_DAY_MS)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    extensions,
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign('sha256', body, privateKey));
  return {
    cert: pem('CERTIFICATE', der(TAG.sequence, body, algorithm, signature)),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
};
