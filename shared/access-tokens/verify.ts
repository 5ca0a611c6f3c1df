import { createPublicKey, verify } from 'node:crypto';
import * as v from 'valibot';
import type { Clock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { problem } from '#shared/problems.ts';
import type { Jwks } from './schema.ts';
import { signerFromEnv } from './signer.ts';

/** How far the clock of the issuing function may be ahead. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 60;

/** Whom a token names, and when the buyer proved the phone (epoch seconds). */
export interface VerifiedBuyer {
  /** E.164. */
  readonly phone: string;
  readonly authTime: number;
}

interface Issuers {
  readonly publicKeys: () => Promise<Jwks>;
  readonly issuers: readonly string[];
  readonly clock: Clock;
}

/** `authorization`: `Bearer …`. Throws `invalid_access_token`, the same for every reason. */
export type VerifyToken = (authorization: string | undefined, sellerId: string) => Promise<VerifiedBuyer>;

const BEARER = /^Bearer +([\w-]+)\.([\w-]+)\.([\w-]+)$/i;

const headerSchema = v.object({
  alg: v.literal('ES256'),
  kid: v.string(),
  // RFC 7515 §4.1.11: an extension that is critical and unknown makes a token invalid. None is known here.
  crit: v.optional(v.never()),
});

const seconds = v.pipe(v.number(), v.integer());

const claimsSchema = v.object({
  iss: v.string(),
  aud: v.string(),
  exp: seconds,
  iat: seconds,
  auth_time: seconds,
  phone_number: v.string(),
  phone_number_verified: v.literal(true),
});

const json = v.pipe(v.string(), v.parseJson());

/** Decodes base64url; undefined for a text that encodes nothing exactly: two texts must not be one token. */
const decoded = (part: string): Buffer | undefined => {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
};

/** Undefined: the token is not valid, for whatever reason. */
const verified = (
  authorization: string | undefined,
  { keys }: Jwks,
  expected: { readonly issuers: readonly string[]; readonly audience: string; readonly nowMs: number },
): VerifiedBuyer | undefined => {
  const [, ...parts] = BEARER.exec(authorization ?? '') ?? [];
  const [head, payload, signature] = parts.map(decoded);
  if (head === undefined || payload === undefined || signature === undefined) return undefined;
  const header = v.safeParse(v.pipe(json, headerSchema), head.toString());
  const claims = v.safeParse(v.pipe(json, claimsSchema), payload.toString());
  if (!header.success || !claims.success) return undefined;
  const jwk = keys.find(({ kid }) => kid === header.output.kid);
  if (jwk === undefined) return undefined;
  const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  if (!verify('sha256', Buffer.from(`${parts[0]}.${parts[1]}`), key, signature)) return undefined;
  const { iss, aud, exp, iat, auth_time, phone_number } = claims.output;
  const nowSeconds = expected.nowMs / 1000;
  const isCurrent = exp > nowSeconds && iat <= nowSeconds + MAX_CLOCK_DIFFERENCE_SECONDS;
  if (!expected.issuers.includes(iss) || aud !== expected.audience || !isCurrent) return undefined;
  return { phone: phone_number, authTime: auth_time };
};

export const tokenVerifier =
  ({ publicKeys, issuers, clock }: Issuers): VerifyToken =>
  async (authorization, audience) => {
    const keys = await publicKeys();
    const buyer = verified(authorization, keys, { issuers, audience, nowMs: clock() });
    if (buyer === undefined) throw problem('invalid_access_token');
    return buyer;
  };

export const tokenVerifierFromEnv = (clock: Clock): VerifyToken => {
  const { publicKeys } = signerFromEnv();
  return tokenVerifier({ publicKeys, issuers: readEnv(['TOKEN_ISSUERS']).TOKEN_ISSUERS, clock });
};
