import type { Caller } from '#shared/api-keys/caller.ts';
import { readEnv } from '#shared/env.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { bestEffort, logEvent } from '#shared/log.ts';
import { codesOf } from '#shared/one-time-codes/new-code.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import {
  afterUnsent,
  audienceOf,
  CODE_LIFETIME_SECONDS,
  RESEND_AFTER_SECONDS,
  sendLimitsOf,
  whyNotSent,
} from '#shared/one-time-codes/rules.ts';
import { type CodeOwner, codeSends } from '#shared/one-time-codes/store.ts';
import { problem } from '#shared/problems.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import { ceilingLimits } from '#shared/rate-limits/ceilings.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { phoneLimit } from '#shared/rate-limits/person-limits.ts';
import { type Consumed, consume, refund, requireLeft, usedUp } from '#shared/rate-limits/request-limits.ts';
import { currentDeadline } from '#shared/request-context.ts';
import { isBuyerAppOrPublic } from '#shared/scopes.ts';
import { hashesFromEnv, type KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode, deliveryOf } from '#shared/sms/port.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';

const route = oneTimeCodeRoutes['send-otp'];
type Deps = ReturnType<typeof build>;

interface Send {
  readonly owner: CodeOwner;
  readonly mac: string;
  readonly caller: Caller | undefined;
  readonly limits: SendLimits;
}

/** Stores a code if the rules of the phone and the limits that are read beside them allow a send. An error stores nothing. */
const recordSend = ({ owner, mac, caller, limits }: Send, { codes, smsProvider, clock }: Deps) =>
  retryConflicts(currentDeadline(), async () => {
    const nowMs = clock();
    const now = Math.floor(nowMs / 1000);
    const read = [...limits.ofPhone, ...limits.ofStage];
    const { record, templates, limitStates } = await codes.read(owner, read, nowMs);
    const wait = whyNotSent(record, sendLimitsOf(caller), now);
    if (wait !== undefined) throw problem(wait.code, wait);
    const over = usedUp(read, limitStates);
    if (over !== undefined) throw over;
    const code = { mac, provider: smsProvider, now };
    const isRecorded = await codes.recordSend(owner, record, code);
    return isRecorded ? { before: record, templates, now, nowMs } : new Conflict();
  });

type Recorded = Awaited<ReturnType<typeof recordSend>>;

/** Counts a recorded send. If that fails, for whatever reason, the code that it replaced is outstanding again. */
const countSend = async (
  { owner, mac, limits }: Send,
  { before, nowMs }: Recorded,
  { codes, rateLimiter }: Deps,
): Promise<Consumed> => {
  try {
    return await consume(rateLimiter, [...limits.ofKey, ...limits.ofStage, ...limits.ofPhone], nowMs);
  } catch (error) {
    await bestEffort('undo_send', codes.undoSend(owner, mac, before));
    throw error;
  }
};

/** Takes back a send whose message was certainly not sent: no code is outstanding. If a provider bounced it, the call stays counted. */
const undoSend = async (
  { owner, mac, limits }: Send,
  { before, now, counted, isBounced }: Recorded & { readonly counted: Consumed; readonly isBounced: boolean },
  { codes, rateLimiter }: Deps,
): Promise<void> => {
  // Otherwise a number that the provider rejects could be used to call it without end.
  const refunded = isBounced
    ? counted.limits.filter((limit) => limits.ofPhone.includes(limit))
    : counted.limits;
  await Promise.all([
    bestEffort('undo_send', codes.undoSend(owner, mac, afterUnsent(before, { now, isBounced }))),
    refund(rateLimiter, { ...counted, limits: refunded }),
  ]);
};

export const handle: Handle<typeof route, Deps> = async (request, deps) => {
  const { caller, counted: countedRequest } = request;
  const { phone, locale } = request.body;
  const { codes, newCode, hashes, sms, smsProvider } = deps;
  if (caller !== undefined) requireLeft(countedRequest, caller, ['sms-per-hour']);
  const audience = audienceOf(caller);
  const phoneHash = await hashes.phone(phone);
  const owner = { phoneHash: phoneHash.current, audience };
  const code = newCode(phone);
  const mac = await hashes.codeMac({ phone, audience, code });
  const send = { owner, mac, caller, limits: sendLimits(caller, phoneHash, deps.smsPerDay) };

  // Recorded before it is counted over all sellers: of many sends to a phone at once, only the one that is sent counts.
  const recorded = await recordSend(send, deps);
  const counted = await countSend(send, recorded, deps);
  // Stored before the message goes out, so that a code that reaches a phone can always be verified.
  const message = { phone, code, locale, templates: recorded.templates };
  const provider = await deliverCode(sms, message).catch(async (error: unknown) => {
    const delivery = deliveryOf(error);
    const isBounced = delivery === 'not_sent';
    if (delivery !== 'possibly_sent') await undoSend(send, { ...recorded, counted, isBounced }, deps);
    throw error;
  });
  logEvent('code_sent', { provider, seller_id: caller?.sellerId });
  // The message was sent. A failure here only attributes the redeem to the wrong provider.
  if (provider !== smsProvider) await bestEffort('set_provider', codes.setProvider(owner, mac, provider));

  return { status: 202, body: { expires_in: CODE_LIFETIME_SECONDS, resend_after: RESEND_AFTER_SECONDS } };
};

interface SendLimits {
  readonly ofKey: readonly Limit[];
  /** Over all sellers. */
  readonly ofPhone: readonly Limit[];
  /** The seller's share and the ceiling. */
  readonly ofStage: readonly Limit[];
}

/** The phone is not counted for the buyer app. `smsPerDay`: the ceiling of the stage. */
const sendLimits = (
  caller: Caller | undefined,
  phone: KeyedHash,
  smsPerDay: number | undefined,
): SendLimits => ({
  ofKey: caller === undefined ? [] : [keyLimit('sms-per-hour', caller)],
  ofPhone: isBuyerAppOrPublic(caller) ? [] : [phoneLimit('sms', phone)],
  ofStage: ceilingLimits('sms-per-day', smsPerDay, caller),
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
