import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, type KMSClient, SignCommand } from '@aws-sdk/client-kms';
import fc from 'fast-check';
import { calculateJwkThumbprint, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as v from 'valibot';
import { accessTokenClaims } from '#shared/access-tokens/rules.ts';
import { jwksSchema } from '#shared/access-tokens/schema.ts';
import { derToJose, keyFileSigner, kmsSigner, type TokenSigner } from '#shared/access-tokens/signer.ts';
import { runInRequest } from '#shared/request-context.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';

const ISSUER = 'https://api.example.test';

const newKey = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });

const claims = () =>
  accessTokenClaims({
    issuer: ISSUER,
    audience: 'sel_a',
    buyerId: 'byr_1',
    phone: '+989990000001',
    verifiedAt: Math.floor(Date.now() / 1000),
  });

/** Verifies a token as a seller does: with a JOSE library, the published keys, and fixed algorithm, issuer and audience. */
const verifyAsSeller = async (token: string, signer: TokenSigner) =>
  jwtVerify(token, createLocalJWKSet(await signer.publicKeys()), {
    algorithms: ['ES256'],
    issuer: ISSUER,
    audience: 'sel_a',
    typ: 'JWT',
  });

/** A fake KMS with local keys. It signs in DER and returns public keys as SPKI, as KMS does, and keeps the commands. */
const kmsWith = (keys: Readonly<Record<string, { privateKey: KeyObject; publicKey: KeyObject }>>) => {
  const commands: (SignCommand | GetPublicKeyCommand)[] = [];
  const outage: { error?: Error } = {};
  const signals: (AbortSignal | undefined)[] = [];
  const send = async (command: SignCommand | GetPublicKeyCommand, options: { abortSignal?: AbortSignal }) => {
    commands.push(command);
    signals.push(options.abortSignal);
    if (outage.error) throw outage.error;
    const key = keys[String(command.input.KeyId)];
    if (key === undefined) throw new Error('NotFoundException');
    return command instanceof SignCommand
      ? { Signature: sign('sha256', command.input.Message as Uint8Array, key.privateKey) }
      : { PublicKey: key.publicKey.export({ format: 'der', type: 'spki' }) };
  };
  return { commands, signals, outage, client: { send } as unknown as Pick<KMSClient, 'send'> };
};

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-'));
});
afterAll(() => rm(folder, { recursive: true }));

const pemFile = async (name: string, privateKey: KeyObject): Promise<string> => {
  const path = join(folder, `${name}.pem`);
  await writeFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return path;
};

const signers = {
  keyFileSigner: async () => keyFileSigner(await pemFile(randomUUID(), newKey().privateKey)),
  kmsSigner: async () => kmsSigner(['key-1'], kmsWith({ 'key-1': newKey() }).client),
};

describe.each(Object.entries(signers))('%s', (_name, newSigner) => {
  it('signs tokens that a JOSE library verifies against the published keys', async () => {
    const signer = await newSigner();
    const given = claims();
    const { payload, protectedHeader } = await verifyAsSeller(await signer.sign(given), signer);
    expect(payload).toEqual(given);
    expect(protectedHeader).toEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: (await signer.publicKeys()).keys[0]?.kid,
    });
  });

  it('uses the RFC 7638 thumbprint as the id of a key', async () => {
    const { keys } = await (await newSigner()).publicKeys();
    expect(await Promise.all(keys.map((key) => calculateJwkThumbprint(key)))).toEqual(
      keys.map(({ kid }) => kid),
    );
  });

  it('publishes the members of the contract, and no private member', async () => {
    const { keys } = await (await newSigner()).publicKeys();
    expect(v.is(jwksSchema, { keys })).toBe(true);
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    ]);
  });

  it('signs claims with characters beyond ASCII', async () => {
    const signer = await newSigner();
    const { payload } = await verifyAsSeller(await signer.sign({ ...claims(), name: 'سارا 👩‍💻' }), signer);
    expect(payload.name).toBe('سارا 👩‍💻');
  });
});

describe('keyFileSigner, with a wrong file', () => {
  it('reads the file again after a failed read', async () => {
    const path = join(folder, 'late.pem');
    const signer = keyFileSigner(path);
    await expect(signer.sign(claims())).rejects.toThrow('ENOENT');
    await pemFile('late', newKey().privateKey);
    expect((await verifyAsSeller(await signer.sign(claims()), signer)).payload.sub).toBe('byr_1');
  });

  it.each([
    ['P-384', newKey('P-384').privateKey],
    ['secp256k1', newKey('secp256k1').privateKey],
    ['Ed25519', generateKeyPairSync('ed25519').privateKey],
  ])('throws for a key of %s, which ES256 does not support', async (kind, privateKey) => {
    const signer = keyFileSigner(await pemFile(kind, privateKey));
    await expect(signer.publicKeys()).rejects.toThrow('not a P-256 key');
    await expect(signer.sign(claims())).rejects.toThrow('not a P-256 key');
  });
});

describe('kmsSigner, during a rotation', () => {
  const keys = { old: newKey(), new: newKey() };

  it('publishes both keys and signs with the first', async () => {
    const signer = kmsSigner(['new', 'old'], kmsWith(keys).client);
    const { keys: published } = await signer.publicKeys();
    expect(published).toHaveLength(2);
    expect(decodeProtectedHeader(await signer.sign(claims())).kid).toBe(published[0]?.kid);
  });

  it('publishes the old and the new key before and after the switch', async () => {
    const before = kmsSigner(['old', 'new'], kmsWith(keys).client);
    const after = kmsSigner(['new', 'old'], kmsWith(keys).client);
    await verifyAsSeller(await before.sign(claims()), after);
    const { payload } = await verifyAsSeller(await after.sign(claims()), before);
    expect(payload.sub).toBe('byr_1');
  });
});

describe('the KMS calls of kmsSigner', () => {
  it('request an ECDSA signature over the message', async () => {
    const { commands, client } = kmsWith({ 'key-1': newKey() });
    const token = await kmsSigner(['key-1'], client).sign(claims());
    expect(commands.at(-1)?.input).toEqual({
      KeyId: 'key-1',
      SigningAlgorithm: 'ECDSA_SHA_256',
      MessageType: 'RAW',
      Message: Buffer.from(token.slice(0, token.lastIndexOf('.'))),
    });
  });

  it('fetch a public key once', async () => {
    const { commands, client } = kmsWith({ 'key-1': newKey() });
    const signer = kmsSigner(['key-1'], client);
    await Promise.all([signer.publicKeys(), signer.publicKeys(), signer.sign(claims())]);
    await signer.publicKeys();
    expect(commands.filter((command) => command instanceof GetPublicKeyCommand)).toHaveLength(1);
  });

  it('get the signal of the request, and their milliseconds are recorded', async () => {
    const { signals, client } = kmsWith({ 'key-1': newKey() });
    const { signal } = new AbortController();
    const request = requestUntil(endless({ signal }));
    await runInRequest(request, () => kmsSigner(['key-1'], client).sign(claims()));
    expect(signals).toEqual([signal, signal]);
    expect(request.calls).toEqual([
      { target: 'kms:GetPublicKey', ms: expect.any(Number) },
      { target: 'kms:Sign', ms: expect.any(Number) },
    ]);
  });

  it('are made again after a failure', async () => {
    const { outage, client } = kmsWith({ 'key-1': newKey() });
    const signer = kmsSigner(['key-1'], client);
    outage.error = new Error('KMS is unreachable');
    await expect(signer.publicKeys()).rejects.toThrow('KMS is unreachable');
    await expect(signer.sign(claims())).rejects.toThrow('KMS is unreachable');
    delete outage.error;
    await verifyAsSeller(await signer.sign(claims()), signer);
    expect((await signer.publicKeys()).keys).toHaveLength(1);
  });

  it.each([
    ['no public key', { Signature: Buffer.alloc(70) }],
    ['no signature', { PublicKey: newKey().publicKey.export({ format: 'der', type: 'spki' }) }],
  ])('throw if KMS returns %s', async (lacking, output) => {
    const client = { send: async () => output } as unknown as Pick<KMSClient, 'send'>;
    await expect(kmsSigner(['key-1'], client).sign(claims())).rejects.toThrow(`KMS returned ${lacking}`);
  });

  it('throw for a key of another curve', async () => {
    const { client } = kmsWith({ 'key-1': newKey('P-384') });
    await expect(kmsSigner(['key-1'], client).publicKeys()).rejects.toThrow('not a P-256 key');
  });
});

/** Encodes integers as DER, independently of the code under test. */
const derOfIntegers = (...integers: readonly (readonly number[])[]): Buffer => {
  const body = integers.flatMap((integer) => [0x02, integer.length, ...integer]);
  return Buffer.from([0x30, body.length, ...body]);
};

const minimal = (coordinate: bigint): number[] => {
  const digits = coordinate.toString(16);
  const bytes = [...Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')];
  return Number(bytes[0]) >= 0x80 ? [0, ...bytes] : bytes;
};

const LONGEST = Array<number>(32).fill(0x7f);

describe('derToJose', () => {
  it('returns r and s, each left-padded to 32 bytes', () => {
    const coordinate = fc
      .tuple(fc.integer({ min: 1, max: 256 }), fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }))
      .map(([bits, value]) => BigInt.asUintN(bits, value) || 1n);
    fc.assert(
      fc.property(coordinate, coordinate, (r, s) => {
        const expected = [r, s].map((value) => value.toString(16).padStart(64, '0')).join('');
        expect(derToJose(derOfIntegers(minimal(r), minimal(s))).toString('hex')).toBe(expected);
      }),
      // The least integers of one and of 32 bytes whose first bit is set.
      { numRuns: 1000, examples: [[0x80n, 2n ** 255n]] },
    );
  });

  it('throws for every signature that is truncated or has a byte more', () => {
    const der = sign('sha256', Buffer.from('message'), newKey().privateKey);
    const cut = Array.from({ length: der.length }, (_, length) => der.subarray(0, length));
    expect(cut.filter((bytes) => !throwsOn(bytes))).toEqual([]);
    expect(throwsOn(Buffer.concat([der, Buffer.from([0])]))).toBe(true);
  });

  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['64 bytes that are not DER', Buffer.alloc(64, 1)],
    ['another tag than SEQUENCE', Buffer.from([0x31, 6, 2, 1, 1, 2, 1, 1])],
    ['another tag than INTEGER', Buffer.from([0x30, 6, 3, 1, 1, 2, 1, 1])],
    ['a wrong length of the sequence', Buffer.from([0x30, 7, 2, 1, 1, 2, 1, 1])],
    ['an integer that ends after the sequence', Buffer.from([0x30, 6, 2, 1, 1, 2, 2, 1])],
    ['an integer without bytes', derOfIntegers([], [1])],
    ['one integer', derOfIntegers([1])],
    ['three integers', derOfIntegers([1], [1], [1])],
    ['zero', derOfIntegers([0], [1])],
    ['a negative integer', derOfIntegers([0x80], [1])],
    ['a padded integer', derOfIntegers([1], [0, 1])],
    ['33 bytes that are not a zero and 32', derOfIntegers([1, ...LONGEST], [1])],
    ['34 bytes', derOfIntegers([1], [0, 0x80, ...LONGEST])],
    ['a signature of P-384', sign('sha256', Buffer.from('m'), newKey('P-384').privateKey)],
  ])('throws for %s', (_case, bytes) => {
    expect(() => derToJose(bytes)).toThrow('not a P-256 signature');
  });

  it('throws or returns 64 bytes for any input', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(throwsOn(bytes) || derToJose(bytes).length === 64).toBe(true);
      }),
    );
  });
});

const throwsOn = (bytes: Uint8Array): boolean => {
  try {
    derToJose(bytes);
    return false;
  } catch {
    return true;
  }
};
