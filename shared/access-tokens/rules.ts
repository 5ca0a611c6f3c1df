import { randomUUID } from 'node:crypto';

export const TOKEN_LIFETIME_SECONDS = 3600;

interface Verification {
  readonly issuer: string;
  readonly audience: string;
  readonly buyerId: string;
  /** E.164. */
  readonly phone: string;
  /** Epoch seconds. */
  readonly verifiedAt: number;
}

/** `phone_number`, `phone_number_verified` and `auth_time` are defined by OpenID Connect Core, `amr` by RFC 8176. */
export const accessTokenClaims = ({ issuer, audience, buyerId, phone, verifiedAt }: Verification) => ({
  iss: issuer,
  sub: buyerId,
  aud: audience,
  iat: verifiedAt,
  exp: verifiedAt + TOKEN_LIFETIME_SECONDS,
  jti: randomUUID(),
  auth_time: verifiedAt,
  amr: ['otp', 'sms'],
  phone_number: phone,
  phone_number_verified: true,
});

export const TOKEN_CLAIMS = [
  'iss',
  'sub',
  'aud',
  'iat',
  'exp',
  'jti',
  'auth_time',
  'amr',
  'phone_number',
  'phone_number_verified',
] as const satisfies readonly (keyof ReturnType<typeof accessTokenClaims>)[];

/**
 * Libraries can only verify tokens with this. OpenID Connect Discovery requires `authorization_endpoint`, and there is none: a URN, which
 * leads nowhere. `response_types_supported` is required too: `id_token` is the value of other such issuers.
 */
export const issuerMetadata = (issuer: string, jwksPath: string) => ({
  issuer,
  authorization_endpoint: 'urn:buyer-linking:one-time-code',
  jwks_uri: `${issuer}${jwksPath}`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  claims_supported: [...TOKEN_CLAIMS],
});
