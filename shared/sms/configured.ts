import { providersNamed } from '#shared/providers/provider.ts';
import { type ResilienceOptions, resilient } from '#shared/providers/resilient.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { kavenegar } from './kavenegar.ts';
import { SEND_CODE, type SmsSender } from './port.ts';
import { sandboxSms } from './sandbox.ts';
import { smsIr } from './sms-ir.ts';

/** Every SMS provider. Their order has no meaning. */
export const SMS_PROVIDERS = [kavenegar, smsIr, sandboxSms] as const;

/** The timeout of one send. The send operation has 16 seconds: enough for the next provider after a message that was not sent. */
const ATTEMPT_TIMEOUT_MS = 8000;

/** Returns the SMS sender of a deployment: the named providers in their order, with credentials from the provider secret. */
export const smsSenderFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: ResilienceOptions,
): SmsSender => {
  const over = resilient<SmsSender>(providersNamed(names, SMS_PROVIDERS), credentials, options);
  const send = over({
    operation: SEND_CODE,
    mayRepeat: false,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    outcomeOf: () => 'accepted',
  });
  return {
    sendCode: (phone, code, signal) => send(signal, (port, until) => port.sendCode(phone, code, until)),
  };
};
