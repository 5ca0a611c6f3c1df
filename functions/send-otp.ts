import { randomBase62 } from '#shared/base62.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle, Request } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { logEvent } from '#shared/log.ts';
import { codesOf } from '#shared/one-time-codes/new-code.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import {
  audienceOf,
  CODE_LIFETIME_SECONDS,
  RESEND_AFTER_SECONDS,
  sendLimitsOf,
  whyNotSent,
} from '#shared/one-time-codes/rules.ts';
import { type CodeOwner, codeSends } from '#shared/one-time-codes/store.ts';
import { problem } from '#shared/problems.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import { keyLimits, type Refund } from '#shared/rate-limits/request-limits.ts';
import { stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { isBuyerApp } from '#shared/scopes.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode, deliveryOf } from '#shared/sms/port.ts';
import { retryUntil } from '#shared/table/backoff.ts';

const route = oneTimeCodeRoutes['send-otp'];

const SALT_LENGTH = 12;

/** Stores a new code if the rules and the limits allow the send. An error counts nothing. */
const recordSend = async (
  { owner, mac }: { readonly owner: CodeOwner; readonly mac: string },
  request: Request<typeof route>,
  deps: ReturnType<typeof build>,
) => {
  const { caller, withinPlan, deadlineMs } = request;
  const { codes, ceilings, smsProvider, clock } = deps;
  const limits = keyLimits(deps, request);
  let refund: Refund | undefined;
  try {
    return await retryUntil(deadlineMs, async () => {
      const [before] = await Promise.all([codes.read(owner, !isBuyerApp(caller)), withinPlan]);
      const now = Math.floor(clock() / 1000);
      const phoneSends = before.phoneSends?.sends.map(({ at }) => at) ?? [];
      const refusal = whyNotSent(before.record, { limits: sendLimitsOf(caller), phoneSends }, now);
      if (refusal !== undefined) throw problem(refusal.reason, refusal);
      refund ??= await ceilings.consumeSms(caller, limits);
      const code = { mac, provider: smsProvider, now };
      return (await codes.recordSend(owner, before, code)) ? { before, code, refund } : undefined;
    });
  } catch (error) {
    await refund?.();
    throw error;
  }
};

/** Undoes the send if the message was not sent; a send that a provider refused starts the cool-down. */
export const handle: Handle<typeof route, ReturnType<typeof build>> = async (request, deps) => {
  const { caller, deadlineMs } = request;
  const { phone, locale } = request.body;
  const { codes, newCode, hashes, sms, smsProvider } = deps;
  const audience = audienceOf(caller);
  const phoneHash = await hashes.phone(phone);
  const owner = { phoneHash: phoneHash.current, audience };
  const code = newCode(phone);
  const mac = await hashes.codeMac({ phone, audience, code, salt: randomBase62(SALT_LENGTH) });

  // The send is stored before the message goes out, so that a code that reaches a phone can always be verified.
  const sent = await recordSend({ owner, mac }, request, deps);
  const { templates } = sent.before;
  const message = { phone, code, locale, templates, deadlineMs };
  const provider = await deliverCode(sms, message).catch(async (error: unknown) => {
    const delivery = deliveryOf(error);
    if (delivery === 'possibly_sent') throw error;
    // A refused send stays counted: otherwise a number that the provider rejects could be used to call it without end.
    const isRefused = delivery === 'not_sent';
    await Promise.all([
      codes.undoSend(owner, sent.before, { ...sent.code, isRefused }),
      isRefused ? undefined : sent.refund(),
    ]);
    throw error;
  });
  logEvent('code_sent', { provider, seller_id: caller?.sellerId });
  // The message was sent. A failure here only attributes the redeem to the wrong provider.
  if (provider !== smsProvider) await codes.setProvider(owner, mac, provider).catch(() => {});

  return { status: 202, body: { expires_in: CODE_LIFETIME_SECONDS, resend_after: RESEND_AFTER_SECONDS } };
};

export const build = ({ table, rateLimiter, clock }: KeyedParts) => {
  const env = readEnv(['SMS_PROVIDERS', 'SMS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.SMS_PROVIDERS, env.KEY_PREFIX);
  return {
    clock,
    rateLimiter,
    ceilings: stageCeilings(rateLimiter, { smsPerDay: env.SMS_PER_DAY }, clock),
    codes: codeSends(table),
    newCode: codesOf(env.SMS_PROVIDERS),
    hashes: hashesFromEnv(),
    sms: smsSenderFrom(env.SMS_PROVIDERS, providerSecretFromEnv()),
    smsProvider: env.SMS_PROVIDERS[0] ?? 'none',
  };
};

export const handler = keyedEndpoint(route, build, handle);
