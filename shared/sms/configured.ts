import { ifSurelyRefused } from '#shared/providers/failover.ts';
import { providersNamed } from '#shared/providers/named.ts';
import { type ResilienceOptions, resilient } from '#shared/providers/resilient.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { kavenegar } from './kavenegar.ts';
import type { SmsSender } from './port.ts';
import { SEND_CODE } from './port.ts';
import { smsIr } from './sms-ir.ts';

/** Every SMS provider there is. Their order here means nothing. */
export const SMS_PROVIDERS = [kavenegar, smsIr] as const;

/** The time of one send. The operation leaves 16 seconds, so that after a refusal the next provider still has its whole time. */
const ATTEMPT_TIMEOUT_MS = 8000;

/** The SMS sender of a deployment: the named providers, the first one first, with credentials from the provider secret. */
export const smsSenderFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: ResilienceOptions,
): SmsSender => {
  const send = resilient<SmsSender>(
    providersNamed(names, SMS_PROVIDERS),
    credentials,
    options,
  )({
    operation: SEND_CODE,
    retries: false,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    mayGoOn: ifSurelyRefused,
    outcomeOf: () => 'taken',
  });
  return {
    sendCode: (phone, code, signal) => send(signal, (port, until) => port.sendCode(phone, code, until)),
  };
};
