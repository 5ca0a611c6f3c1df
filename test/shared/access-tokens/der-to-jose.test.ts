import { generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { derToJose } from '#shared/access-tokens/kms.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const derOf = (message: Uint8Array): Buffer => sign('sha256', message, privateKey);

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
  it('returns 64 bytes that node:crypto verifies, for 3000 signatures', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), (message) => {
        const jose = derToJose(derOf(message));
        expect(jose).toHaveLength(64);
        expect(verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, jose)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('returns r and s, each left-padded to 32 bytes', () => {
    const coordinate = fc
      .tuple(fc.integer({ min: 1, max: 256 }), fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }))
      .map(([bits, value]) => BigInt.asUintN(bits, value) || 1n);
    fc.assert(
      fc.property(coordinate, coordinate, (r, s) => {
        const expected = [r, s].map((value) => value.toString(16).padStart(64, '0')).join('');
        expect(derToJose(derOfIntegers(minimal(r), minimal(s))).toString('hex')).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('throws for every signature that is truncated or has a byte more', () => {
    const der = derOf(Buffer.from('message'));
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
    [
      'a signature of P-384',
      sign('sha256', Buffer.from('m'), generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey),
    ],
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
