import type { Caller } from '#shared/api-keys/caller.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
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
import type { Delivery } from '#shared/providers/unavailable.ts';
import { ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { consume, refund } from '#shared/rate-limits/request-limits.ts';
import { currentDeadline } from '#shared/request-context.ts';
import { isBuyerApp } from '#shared/scopes.ts';
import { hashesFromEnv, type KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode, deliveryOf } from '#shared/sms/port.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';

const route = oneTimeCodeRoutes['send-otp'];
type Deps = ReturnType<typeof build>;

/** Counts a send and stores its code, if the rules and the limits allow it. An error counts nothing. */
const recordSend = (
  { owner, mac, limits }: { readonly owner: CodeOwner; readonly mac: string; readonly limits: SendLimits },
  caller: Caller | undefined,
  { codes, rateLimiter, smsProvider, clock }: Deps,
) =>
  retryConflicts(currentDeadline(), async () => {
    const { record, templates } = await codes.read(owner);
    const nowMs = clock();
    const now = Math.floor(nowMs / 1000);
    const wait = whyNotSent(record, sendLimitsOf(caller), now);
    if (wait !== undefined) throw problem(wait.code, wait);
    const counted = await consume(rateLimiter, [...limits.ofPhone, ...limits.ofCalls], nowMs);
    const code = { mac, provider: smsProvider, now };
    if (await codes.recordSend(owner, record, code)) return { record, templates, code, counted };
    await refund(rateLimiter, counted);
    return new Conflict();
  });

type Sent = Awaited<ReturnType<typeof recordSend>>;

/** Undoes a send whose message was certainly not sent. If a provider bounced it, the cool-down starts, and the call stays counted. */
const undoSend = async (
  { owner, sent, limits }: { readonly owner: CodeOwner; readonly sent: Sent; readonly limits: SendLimits },
  delivery: Exclude<Delivery, 'possibly_sent'>,
  { codes, rateLimiter }: Deps,
): Promise<void> => {
  // Otherwise a number that the provider rejects could be used to call it without end.
  const isBounced = delivery === 'not_sent';
  const kept = isBounced ? limits.ofCalls : [];
  await Promise.all([
    codes.undoSend(owner, sent.record, { ...sent.code, isBounced }),
    refund(rateLimiter, {
      ...sent.counted,
      limits: sent.counted.limits.filter((limit) => !kept.includes(limit)),
    }),
  ]);
};

export const handle: Handle<typeof route, Deps> = async (request, deps) => {
  const { caller } = request;
  const { phone, locale } = request.body;
  const { codes, newCode, hashes, sms, smsProvider } = deps;
  const audience = audienceOf(caller);
  const phoneHash = await hashes.phone(phone);
  const owner = { phoneHash: phoneHash.current, audience };
  const code = newCode(phone);
  const mac = await hashes.codeMac({ phone, audience, code });
  const limits = sendLimits(caller, phoneHash, deps.smsPerDay);

  // The send is stored before the message goes out, so that a code that reaches a phone can always be verified.
  const sent = await recordSend({ owner, mac, limits }, caller, deps);
  const message = { phone, code, locale, templates: sent.templates };
  const provider = await deliverCode(sms, message).catch(async (error: unknown) => {
    const delivery = deliveryOf(error);
    if (delivery !== 'possibly_sent') await undoSend({ owner, sent, limits }, delivery, deps);
    throw error;
  });
  logEvent('code_sent', { provider, seller_id: caller?.sellerId });
  // The message was sent. A failure here only attributes the redeem to the wrong provider.
  if (provider !== smsProvider) await codes.setProvider(owner, mac, provider).catch(() => {});

  return { status: 202, body: { expires_in: CODE_LIFETIME_SECONDS, resend_after: RESEND_AFTER_SECONDS } };
};

interface SendLimits {
  readonly ofPhone: readonly Limit[];
  /** Of the key, of its seller's share and of the stage. */
  readonly ofCalls: readonly Limit[];
}

/** The phone is not counted for the buyer app. `smsPerDay`: the ceiling of the stage. */
const sendLimits = (
  caller: Caller | undefined,
  phone: KeyedHash,
  smsPerDay: number | undefined,
): SendLimits => ({
  ofPhone: isBuyerApp(caller) ? [] : [phoneLimit('sms', phone)],
  ofCalls: [
    ...(caller === undefined ? [] : [keyLimit('sms-per-hour', caller)]),
    ...ceilingLimits('sms-per-day', smsPerDay, caller),
  ],
});

export const build = ({ table, rateLimiter, clock }: KeyedParts) => {
  const env = readEnv(['SMS_PROVIDERS', 'SMS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.SMS_PROVIDERS, env.KEY_PREFIX);
  return {
    clock,
    rateLimiter,
    /** The ceiling of the stage. */
    smsPerDay: env.SMS_PER_DAY,
    codes: codeSends(table),
    newCode: codesOf(env.SMS_PROVIDERS),
    hashes: hashesFromEnv(),
    sms: smsSenderFrom(env.SMS_PROVIDERS, providerSecretFromEnv()),
    smsProvider: env.SMS_PROVIDERS[0] ?? 'none',
  };
};

export const handler = keyedEndpoint(route, build, handle);
