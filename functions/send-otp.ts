import { randomBase62 } from '#shared/base62.ts';
import { sendOtpDeps } from '#shared/deps.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { logEvent } from '#shared/log.ts';
import type { CodeGenerator } from '#shared/one-time-codes/new-code.ts';
import { recordSend } from '#shared/one-time-codes/record-send.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import {
  audienceOf,
  CODE_LIFETIME_SECONDS,
  isBuyerApp,
  RESEND_AFTER_SECONDS,
} from '#shared/one-time-codes/rules.ts';
import type { CodeStore } from '#shared/one-time-codes/store.ts';
import { consumeAll } from '#shared/rate-limits/consumed.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { keyLimits } from '#shared/rate-limits/request-limits.ts';
import type { StageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { deliverCode } from '#shared/sms/deliver-code.ts';
import type { SmsSender } from '#shared/sms/port.ts';

const route = oneTimeCodeRoutes['send-otp'];

export interface SendOtpDeps extends EndpointDeps {
  readonly rateLimiter?: RateLimiter;
  readonly ceilings: Pick<StageCeilings, 'consumeSms'>;
  readonly codes: Pick<CodeStore, 'read' | 'recordSend' | 'undoSend' | 'setProvider'>;
  readonly newCode: CodeGenerator;
  readonly hashes: KeyedHashes;
  readonly sms: SmsSender;
  /** The provider that is called first. */
  readonly smsProvider: string;
}

const SALT_LENGTH = 12;

/** Sends a one-time code to a phone. Undoes the send if the message was not sent. */
export const handle: Handle<typeof route, SendOtpDeps> = async (request, deps) => {
  const { caller, deadlineMs, withinPlan } = request;
  const { phone } = request.body;
  const { ceilings, codes, newCode, hashes, sms, smsProvider, clock } = deps;
  const audience = audienceOf(caller);
  const [phoneHash] = await hashes.phone(phone);
  const owner = { phoneHash, audience };
  const code = newCode(phone);
  const mac = await hashes.codeMac({ phone, audience, code, salt: randomBase62(SALT_LENGTH) });
  const limits = keyLimits(deps, request);

  // The send is stored before the message goes out, so that a code that reaches a phone can always be verified.
  const sent = await recordSend(codes, {
    owner,
    code: { mac, provider: smsProvider },
    withPhoneSends: !isBuyerApp(caller),
    withinPlan,
    consumeSms: () => consumeAll(() => limits.consume('sms-per-hour'), ceilings.consumeSms),
    clock,
  });
  const undo = () => Promise.all([codes.undoSend(owner, sent.before, sent.code), sent.sms.refund()]);
  const provider = await deliverCode(sms, { phone, code, deadlineMs }, undo);
  logEvent('code_sent', { provider, seller_id: caller?.sellerId });
  // The message was sent. A failure here only attributes the redeem to the wrong provider.
  if (provider !== smsProvider) await codes.setProvider(owner, mac, provider).catch(() => {});

  return { status: 202, body: { expires_in: CODE_LIFETIME_SECONDS, resend_after: RESEND_AFTER_SECONDS } };
};

export const handler = endpoint(route, handle, sendOtpDeps);
