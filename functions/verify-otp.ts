import { accessTokenClaims, TOKEN_LIFETIME_SECONDS } from '#shared/access-tokens/rules.ts';
import { signerFromEnv } from '#shared/access-tokens/signer.ts';
import type { Caller } from '#shared/api-keys/caller.ts';
import { registrationOf } from '#shared/buyers/store.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { bestEffort, logEvent } from '#shared/log.ts';
import { countFailedVerify, requireVerifiesLeft } from '#shared/one-time-codes/failed-verifies.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import { audienceOf, type OutstandingCode, sendLimitsOf } from '#shared/one-time-codes/rules.ts';
import { type CodeOwner, codeTries } from '#shared/one-time-codes/store.ts';
import { problem } from '#shared/problems.ts';
import { assertSandboxAllowed, isSandbox } from '#shared/providers/sandbox.ts';
import { registersInSandbox } from '#shared/providers/test-identities.ts';
import { isBuyerAppOrPublic } from '#shared/scopes.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';

const route = oneTimeCodeRoutes['verify-otp'];

interface Try {
  readonly owner: CodeOwner;
  readonly phone: string;
  readonly code: string;
  readonly now: number;
  readonly caller: Caller | undefined;
}

interface TriedCode {
  /** Whether a code was outstanding. */
  readonly isCompared: boolean;
  readonly rightCode?: OutstandingCode;
}

/** Counts a try and compares its code in constant time. Throws `too_many_attempts` if no try is left or the phone is locked. */
const tryCode = async (
  { owner, phone, code, now, caller }: Try,
  { codes, hashes }: Pick<ReturnType<typeof build>, 'codes' | 'hashes'>,
): Promise<TriedCode> => {
  const tried = await codes.countTry(owner, now, sendLimitsOf(caller));
  if (!tried.written) {
    if (tried.reason.code !== 'code_rejected') throw problem(tried.reason.code, tried.reason);
    return { isCompared: false };
  }
  const isRight = await hashes.isCode(tried.value.mac, { phone, audience: owner.audience, code });
  return { isCompared: true, ...(isRight && { rightCode: tried.value }) };
};

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (request, deps) => {
  const { caller, counted } = request;
  const { phone, code } = request.body;
  const { codes, hashes, signer, tokenIssuer, rateLimiter, clock } = deps;
  const audience = audienceOf(caller);
  requireVerifiesLeft(counted, caller);
  const [phoneHash, buyerId] = await Promise.all([hashes.phone(phone), hashes.buyerId(phone)]);
  const owner = { phoneHash: phoneHash.current, audience };
  const verifiedAt = Math.floor(clock() / 1000);
  const { isCompared, rightCode } = await tryCode({ owner, phone, code, now: verifiedAt, caller }, deps);
  if (rightCode === undefined)
    throw await countFailedVerify(rateLimiter, { caller, isCompared, nowMs: clock() });
  const { mac, provider } = rightCode;

  const claims = accessTokenClaims({ issuer: tokenIssuer, audience, buyerId, phone, verifiedAt });
  // Signed before the code is used up: if the signer fails, the buyer loses a try and not the code.
  const accessToken = await signer.sign(claims).catch(async (error) => {
    await bestEffort('clear_failures', codes.clearFailures(owner, mac, verifiedAt));
    throw error;
  });
  const registers = deps.inSandbox ? registersInSandbox(phone) : isBuyerAppOrPublic(caller);
  const registeredAt = new Date(verifiedAt * 1000).toISOString();
  // In the same transaction: a code that is rejected registers nobody.
  const alsoWrite = registers
    ? [registrationOf(deps.tableName, owner.phoneHash, { buyerId, registeredAt })]
    : [];
  // Another request used the code up, or a new one replaced it. It was right, so it counts as no failed verify of the key. The failure of
  // the phone, counted with the try, was cleared by that request, or stays if the code was replaced.
  if (!(await codes.redeem(owner, mac, { now: verifiedAt, alsoWrite }))) throw problem('code_rejected');
  logEvent('code_redeemed', { provider, seller_id: caller?.sellerId });

  return {
    status: 200,
    body: { access_token: accessToken, token_type: 'Bearer', expires_in: TOKEN_LIFETIME_SECONDS },
  };
};

/** Where the SMS provider is the sandbox, every key registers buyers, so that a seller tries the whole flow with its own key. */
const isInSandbox = (): boolean => {
  const { SMS_PROVIDERS, KEY_PREFIX } = readEnv(['SMS_PROVIDERS', 'KEY_PREFIX']);
  assertSandboxAllowed(SMS_PROVIDERS, KEY_PREFIX);
  return isSandbox(SMS_PROVIDERS);
};

export const build = ({ table, rateLimiter, clock }: KeyedParts) => ({
  clock,
  rateLimiter,
  codes: codeTries(table),
  tableName: table.name,
  hashes: hashesFromEnv(),
  signer: signerFromEnv(),
  tokenIssuer: readEnv(['TOKEN_ISSUERS']).TOKEN_ISSUERS[0] as string,
  inSandbox: isInSandbox(),
});

export const handler = keyedEndpoint(route, build, handle);
