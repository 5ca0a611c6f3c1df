import { generateKeyPairSync, sign } from 'node:crypto';
import { publishedKey, signedToken, type TokenSigner } from '#shared/access-tokens/signer.ts';

export const ISSUER = 'https://issuer.example';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const published = publishedKey(pair.publicKey.export({ format: 'jwk' }));

/** Signs with a key that exists in this process only. */
export const signer: TokenSigner = {
  sign: (claims) =>
    signedToken(published.kid, claims, (input) =>
      sign('sha256', input, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
  publicKeys: async () => ({ keys: [published] }),
};

const secondsNow = (): number => Math.floor(Date.parse('2026-11-21T08:00:00Z') / 1000);

/** The claims of a buyer who signed in at `authTime` (epoch seconds). */
export const claimsOf = (phone: string, audience = 'sel_test', authTime = secondsNow()) => ({
  iss: ISSUER,
  sub: 'byr_1',
  aud: audience,
  iat: authTime,
  exp: authTime + 3600,
  jti: 'a-token-of-a-test',
  auth_time: authTime,
  amr: ['otp', 'sms'],
  phone_number: phone,
  phone_number_verified: true,
});

/** The header Authorization of a signed-in buyer. */
export const bearerOf = async (...args: Parameters<typeof claimsOf>) => ({
  Authorization: `Bearer ${await signer.sign(claimsOf(...args))}`,
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What is forged, and from what. */
interface Forgery {
  /** A valid token of the service. */
  readonly good: string;
  /** Signs claims as the service does. Without it, only what strangers can make. */
  readonly sign?: TokenSigner['sign'];
}

/** Every header that must be refused, by what is wrong with it. */
export const forgedTokens = async ({ good, sign: signAsService }: Forgery) => {
  const [head = '', payload = '', signature = ''] = good.split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const strangers = publishedKey(stranger.publicKey.export({ format: 'jwk' }));
  const byStranger = (header: object): string => {
    const input = `${encoded({ alg: 'ES256', typ: 'JWT', ...header })}.${payload}`;
    const key = { key: stranger.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
  };
  const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  const tokens = {
    'an unsigned token': `${encoded({ alg: 'none', kid })}.${payload}.`,
    'an HMAC': `${encoded({ alg: 'HS256', kid })}.${payload}.${signature}`,
    'another algorithm': `${encoded({ alg: 'ES384', kid })}.${payload}.${signature}`,
    'a key in the header': byStranger({ kid: strangers.kid, jwk: strangers }),
    'an unknown key': byStranger({ kid: strangers.kid }),
    'the signature of another key': byStranger({ kid }),
    'a critical extension': byStranger({ kid, crit: ['exp'] }),
    'a changed claim': `${head}.${encoded({ ...claims, phone_number: '+989990000001' })}.${signature}`,
    'a changed signature': `${head}.${payload}.${changed}`,
    'a shortened signature': `${head}.${payload}.${signature.slice(0, -4)}`,
    'another text of the same signature': `${head}.${payload}.${signature}=`,
    'no signature': `${head}.${payload}`,
    'no JSON': `${head}.${Buffer.from('{').toString('base64url')}.${signature}`,
    'two tokens': `${good}, Bearer ${good}`,
    ...(signAsService && (await signedForgeries(claims, signAsService))),
  };
  return {
    'no header': undefined,
    'an empty header': '',
    'no token': 'Bearer',
    'another scheme': `Basic ${good}`,
    'no scheme': good,
    ...Object.fromEntries(Object.entries(tokens).map(([what, token]) => [what, `Bearer ${token}`])),
  } as Readonly<Record<string, string | undefined>>;
};

/** What only a service with the same signing key could have issued. */
const signedForgeries = async (claims: ReturnType<typeof claimsOf>, signAsService: TokenSigner['sign']) => {
  const changes = {
    'another issuer': { iss: 'https://other.example' },
    'another seller': { aud: 'sel_somebody' },
    'several sellers': { aud: [claims.aud, 'sel_somebody'] },
    'an expired token': { exp: claims.iat - 1 },
    'a token of the future': { iat: claims.iat + 7200, exp: claims.iat + 10_800 },
    'no expiry': { exp: undefined },
    'an expiry that is text': { exp: String(claims.exp) },
    'no phone': { phone_number: undefined },
    'an unverified phone': { phone_number_verified: false },
    'no time of the sign-in': { auth_time: undefined },
  };
  return Object.fromEntries(
    await Promise.all(
      Object.entries(changes).map(async ([what, change]) => [
        what,
        await signAsService({ ...claims, ...change }),
      ]),
    ),
  ) as Record<string, string>;
};
