/** Bytes of one coordinate of a P-256 signature. */
const COORDINATE_BYTES = 32;

const NOT_A_SIGNATURE = 'not a P-256 signature';

/** Returns a DER integer as 32 bytes. DER integers are signed and minimal: a leading zero is there only if the first bit is set. */
const toCoordinate = (integer: Buffer): Buffer => {
  const [first = 0, second = 0] = integer;
  const digits = first === 0 ? integer.subarray(1) : integer;
  const isMinimal = first === 0 ? second >= 0x80 : first < 0x80;
  if (!isMinimal || digits.length > COORDINATE_BYTES) throw new Error(NOT_A_SIGNATURE);
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - digits.length), digits]);
};

/**
 * Converts a P-256 signature from DER, `SEQUENCE { INTEGER r, INTEGER s }`, which KMS returns, to the 64 bytes `r ‖ s` of JOSE
 * (RFC 7518 §3.4). Throws if it is not such a signature.
 */
export const derToJose = (der: Uint8Array): Buffer => {
  const bytes = Buffer.from(der);
  const integerAt = (offset: number): Buffer => {
    const length = bytes[offset + 1] ?? 0;
    const integer = bytes.subarray(offset + 2, offset + 2 + length);
    if (bytes[offset] !== 0x02 || length === 0 || integer.length !== length) throw new Error(NOT_A_SIGNATURE);
    return integer;
  };
  const r = integerAt(2);
  const s = integerAt(4 + r.length);
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2 || 6 + r.length + s.length !== bytes.length) {
    throw new Error(NOT_A_SIGNATURE);
  }
  return Buffer.concat([toCoordinate(r), toCoordinate(s)]);
};
