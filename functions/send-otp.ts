import { randomInt } from 'node:crypto';
import { randomBase62 } from '#shared/base62.ts';
import { sendOtpDeps } from '#shared/deps.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import {
  audienceOf,
  CODE_LIFETIME_SECONDS,
  RESEND_AFTER_SECONDS,
  recentSends,
  secondsUntilNextSend,
} from '#shared/one-time-codes/rules.ts';
import type { CodeStore } from '#shared/one-time-codes/store.ts';
import { problem } from '#shared/problems.ts';
import { type Consumed, keyLimits, NOT_LIMITED } from '#shared/rate-limits/key-limits.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { routes } from '#shared/routes.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { deliverCode } from '#shared/sms/deliver-code.ts';
import type { SmsSender } from '#shared/sms/port.ts';

const route = routes['send-otp'];

export interface SendOtpDeps extends EndpointDeps {
  readonly rateLimiter?: RateLimiter;
  readonly codes: Pick<CodeStore, 'read' | 'replaceCode'>;
  readonly hashes: KeyedHashes;
  readonly sms: SmsSender;
}

/** Two sends at the same moment: one writes first, the other then finds the cool-down. More rounds than that mean trouble. */
const MAX_ROUNDS = 3;

/** Six digits, each of the million equally likely. */
const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

export const handle = async (
  { body: { phone }, caller, withinPlan, deadlineMs, requestId }: Request<typeof route>,
  { codes, hashes, sms, clock, rateLimiter }: SendOtpDeps,
): Promise<ResponseOf<typeof route>> => {
  const audience = audienceOf(caller);
  const [phoneHash] = await hashes.phone(phone);
  const code = newCode();
  const limits =
    rateLimiter && caller
      ? keyLimits(rateLimiter, { caller, nowMs: clock(), requestId, operation: route.name })
      : NOT_LIMITED;
  const mac = await hashes.codeMac({ phone, audience, code, salt: randomBase62(12) });

  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const [seen] = await Promise.all([codes.read(phoneHash), withinPlan]);
    const now = Math.floor(clock() / 1000);
    const sends = recentSends(seen?.sends ?? [], now);
    const waitSeconds = secondsUntilNextSend(sends, now);
    if (waitSeconds > 0) throw problem('resend_too_soon', { retryAfterSeconds: waitSeconds });

    const consumed: Consumed = await limits.consume('sms-per-hour');
    const next = { mac, audience, expiresAt: now + CODE_LIFETIME_SECONDS, tries: 0 };
    // The send is written down before the message goes out: a code that reached a phone can always be verified.
    const replaced = await codes.replaceCode(phoneHash, seen, { code: next, sends: [...sends, now], now });
    if (replaced === undefined) {
      await consumed.refund();
      continue;
    }

    const undo = () =>
      Promise.all([
        codes.replaceCode(phoneHash, written(seen), { code: replaced.code, sends, now }),
        consumed.refund(),
      ]);
    await deliverCode(sms, { phone, code }, deadlineMs, undo);
    return { status: 202, body: { expires_in: CODE_LIFETIME_SECONDS, resend_after: RESEND_AFTER_SECONDS } };
  }
  throw problem('resend_too_soon', { retryAfterSeconds: 1 });
};

/** What an undo must still find: the record one version on. */
const written = (seen: Awaited<ReturnType<CodeStore['read']>>) => ({
  sends: [],
  failures: 0,
  lastFailureAt: 0,
  version: (seen?.version ?? 0) + 1,
});

export const handler = endpoint(route, handle, sendOtpDeps);
