import type { TokenSigner } from '#shared/access-tokens/port.ts';
import { accessTokenClaims, TOKEN_LIFETIME_SECONDS } from '#shared/access-tokens/rules.ts';
import type { BuyerStore } from '#shared/buyers/store.ts';
import { verifyOtpDeps } from '#shared/deps.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { audienceOf, registersBuyers } from '#shared/one-time-codes/rules.ts';
import type { CodeStore } from '#shared/one-time-codes/store.ts';
import { problem } from '#shared/problems.ts';
import { routes } from '#shared/routes.ts';
import { type KeyedHashes, sameMac } from '#shared/secrets/keyed-hashes.ts';

const route = routes['verify-otp'];

export interface VerifyOtpDeps extends EndpointDeps {
  readonly codes: Pick<CodeStore, 'countTry' | 'redeem'>;
  readonly buyers: Pick<BuyerStore, 'register'>;
  readonly hashes: KeyedHashes;
  readonly signer: TokenSigner;
  readonly tokenIssuer: string;
}

export const handle = async (
  { body: { phone, code }, caller, withinPlan }: Request<typeof route>,
  { codes, buyers, hashes, signer, tokenIssuer, clock }: VerifyOtpDeps,
): Promise<ResponseOf<typeof route>> => {
  const audience = audienceOf(caller);
  const [[phoneHash], buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
  await withinPlan;

  const tried = await codes.countTry(phoneHash, audience, Math.floor(clock() / 1000));
  if ('reason' in tried) {
    throw tried.reason === 'rejected'
      ? problem('code_rejected')
      : problem('too_many_attempts', { retryAfterSeconds: tried.retryAfterSeconds });
  }
  const salt = tried.mac.split('.')[0] as string;
  if (!sameMac(await hashes.codeMac({ phone, audience, code, salt }), tried.mac))
    throw problem('code_rejected');

  // Signed before the code is used up: a signer that fails costs the buyer a try, not the code.
  const claims = accessTokenClaims({ issuer: tokenIssuer, audience, buyerId, phone }, clock());
  const accessToken = await signer.sign(claims);
  if (registersBuyers(caller)) await buyers.register(phoneHash, buyerId, new Date(clock()).toISOString());
  if (!(await codes.redeem(phoneHash, tried.mac))) throw problem('code_rejected');

  return {
    status: 200,
    body: { access_token: accessToken, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS },
  };
};

export const handler = endpoint(route, handle, verifyOtpDeps);
