import {
  type CallOptions,
  type CallPolicy,
  callProviders,
  connectProviders,
} from '#shared/providers/call.ts';
import { type Provider, providersNamed } from '#shared/providers/provider.ts';
import { assertSandboxPhone, failAs, rejectedNumber, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPhone } from '#shared/providers/test-identities.ts';
import type { SecretSource } from '#shared/secrets/secret-source.ts';
import { kavenegar } from './kavenegar.ts';
import { SEND_CODE, type SmsSender } from './port.ts';
import { smsIr } from './sms-ir.ts';

/** The sandbox rejects every phone but 0999…, as a provider rejects a number. */
const sandboxSms: Provider<SmsSender> = {
  name: SANDBOX,
  credentials: undefined,
  isSandbox: true,
  open: () => ({
    async sendCode({ phone }, signal) {
      const site = { provider: SANDBOX, operation: SEND_CODE };
      assertSandboxPhone(phone, site);
      const outcome = outcomeOfPhone(phone);
      if (outcome === 'rejected') throw rejectedNumber(site);
      await failAs(outcome, site, signal);
      return { provider: SANDBOX };
    },
  }),
};

export const SMS_PROVIDERS = [kavenegar, smsIr, sandboxSms] as const;

/** The send operation has 16 seconds: enough for the next provider after a message that was not sent. */
const MESSAGE: CallPolicy<'sendCode', { readonly provider: string }> = {
  port: 'sms',
  method: 'sendCode',
  operation: SEND_CODE,
  mayRepeat: false,
  attemptTimeoutMs: 8000,
  outcomeOf: () => 'accepted',
};

export const smsSenderFrom = (
  names: readonly string[],
  credentials: SecretSource,
  options?: CallOptions,
): SmsSender => {
  const providers = connectProviders(providersNamed(names, SMS_PROVIDERS), credentials, options);
  return {
    sendCode: (message, signal) => callProviders(providers, { policy: MESSAGE, args: [message], signal }),
  };
};
