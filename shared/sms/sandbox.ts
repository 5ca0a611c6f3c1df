/** The SMS provider of a sandbox stage: sends nothing, and answers by the test phones, in process. */
import type { Provider } from '#shared/providers/provider.ts';
import { isSandboxPhone, neverRespond, SANDBOX } from '#shared/providers/sandbox.ts';
import { outcomeOfPhone, type PhoneOutcome } from '#shared/providers/test-identities.ts';
import {
  type CallSite,
  type Delivery,
  ProviderUnavailable,
  type UnavailableReason,
} from '#shared/providers/unavailable.ts';
import type { SmsSender } from './port.ts';
import { SEND_CODE } from './port.ts';

/** The failure of each outcome; `slow` never responds. */
const FAILURES: Partial<Record<PhoneOutcome, readonly [UnavailableReason, Delivery]>> = {
  rejected: ['rejected', 'not_sent'],
  balance: ['balance', 'not_sent'],
  upstream_down: ['upstream', 'possibly_sent'],
  malformed: ['malformed', 'possibly_sent'],
  lost_response: ['transport', 'possibly_sent'],
};

const SITE: CallSite = { provider: SANDBOX, operation: SEND_CODE };

/** The SMS provider `sandbox`. It rejects every phone but 0999…, as a provider rejects a number. */
export const sandboxSms: Provider<SmsSender> = {
  name: SANDBOX,
  credentials: undefined,
  open: () => ({
    async sendCode(phone, _code, signal) {
      const outcome = isSandboxPhone(phone) ? outcomeOfPhone(phone) : 'rejected';
      if (outcome === 'slow') return neverRespond(SITE, signal, 'possibly_sent');
      const failure = outcome && FAILURES[outcome];
      if (failure !== undefined) throw new ProviderUnavailable(SITE, failure[0], { delivery: failure[1] });
      return { provider: SANDBOX };
    },
  }),
};
