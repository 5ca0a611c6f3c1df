import type { SmsSender } from '#shared/sms/port.ts';

/** An SMS sender in memory, for tests. It keeps the messages it accepts, and fails as `failure` says for a phone. */
export const fakeSmsSender = (failure: (phone: string) => Error | undefined = () => undefined) => {
  const sent: { readonly phone: string; readonly code: string }[] = [];
  const sender: SmsSender = {
    async sendCode(phone, code) {
      const error = failure(phone);
      if (error !== undefined) throw error;
      sent.push({ phone, code });
      return { provider: 'fake' };
    },
  };
  return { ...sender, sent: sent as readonly { readonly phone: string; readonly code: string }[] };
};
