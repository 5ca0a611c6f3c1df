/** The SMS provider of a sandbox stage: sends nothing, and answers by the test phones, in process. */
import type { Provider } from '#shared/providers/provider.ts';
import { assertSandboxPhone, failAs, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPhone } from '#shared/providers/test-identities.ts';
import { SEND_CODE, type SmsSender } from './port.ts';

/** The SMS provider `sandbox`. It rejects every phone but 0999…, as a provider rejects a number. */
export const sandboxSms: Provider<SmsSender> = {
  name: SANDBOX,
  credentials: undefined,
  open: () => ({
    async sendCode({ phone }, signal) {
      const site = { provider: SANDBOX, operation: SEND_CODE };
      assertSandboxPhone(phone, site);
      await failAs(outcomeOfPhone(phone), site, signal);
      return { provider: SANDBOX };
    },
  }),
};
