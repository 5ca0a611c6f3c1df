/** Bytes of one coordinate of a P-256 signature. */
const COORDINATE_BYTES = 32;

/** A DER integer is signed and minimal: it may have a leading zero too many, or be shorter than the coordinate. */
const toCoordinate = (integer: Buffer): Buffer => {
  const digits = integer.subarray(Math.max(0, integer.length - COORDINATE_BYTES));
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - digits.length), digits]);
};

/**
 * A P-256 signature from DER, `SEQUENCE { INTEGER r, INTEGER s }`, which KMS gives, to the 64 bytes `r ‖ s` that JOSE wants
 * (RFC 7518 §3.4). Throws if it is not such a signature.
 */
export const derToJose = (der: Uint8Array): Buffer => {
  const bytes = Buffer.from(der);
  const integerAt = (offset: number): Buffer => {
    const length = bytes[offset + 1];
    if (bytes[offset] !== 0x02 || length === undefined || length === 0 || length > COORDINATE_BYTES + 1) {
      throw new Error('not a P-256 signature');
    }
    return bytes.subarray(offset + 2, offset + 2 + length);
  };
  const r = integerAt(2);
  const s = integerAt(4 + r.length);
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2 || 6 + r.length + s.length !== bytes.length) {
    throw new Error('not a P-256 signature');
  }
  return Buffer.concat([toCoordinate(r), toCoordinate(s)]);
};
