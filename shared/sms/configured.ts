import { type CallOptions, type CallPolicy, providerCalls } from '#shared/providers/call.ts';
import { providersNamed } from '#shared/providers/provider.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { kavenegar } from './kavenegar.ts';
import { SEND_CODE, type SmsSender } from './port.ts';
import { sandboxSms } from './sandbox.ts';
import { smsIr } from './sms-ir.ts';

/** Every SMS provider. Their order has no meaning. */
export const SMS_PROVIDERS = [kavenegar, smsIr, sandboxSms] as const;

/** How a message is sent. The send operation has 16 seconds: enough for the next provider after a message that was not sent. */
const MESSAGE: CallPolicy = {
  operation: SEND_CODE,
  mayRepeat: false,
  attemptTimeoutMs: 8000,
  outcomeOf: () => 'accepted',
};

/** Returns the SMS sender of a deployment: the named providers in their order, with credentials from the provider secret. */
export const smsSenderFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: CallOptions,
): SmsSender => {
  const call = providerCalls<SmsSender>(providersNamed(names, SMS_PROVIDERS), credentials, options);
  return {
    sendCode: (message, signal) => call(MESSAGE, signal, (port, until) => port.sendCode(message, until)),
  };
};
