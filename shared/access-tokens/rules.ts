import { randomUUID } from 'node:crypto';

export const TOKEN_LIFETIME_SECONDS = 3600;

interface Subject {
  readonly issuer: string;
  /** The seller the token is for. */
  readonly audience: string;
  readonly buyerId: string;
  /** E.164. */
  readonly phone: string;
}

/** The claims of an access token issued now. `phone_number` and its companion are the names of OpenID Connect Core §5.1. */
export const accessTokenClaims = ({ issuer, audience, buyerId, phone }: Subject, nowMs: number) => {
  const issuedAt = Math.floor(nowMs / 1000);
  return {
    iss: issuer,
    sub: buyerId,
    aud: audience,
    iat: issuedAt,
    exp: issuedAt + TOKEN_LIFETIME_SECONDS,
    jti: randomUUID(),
    phone_number: phone,
    phone_number_verified: true,
  };
};
