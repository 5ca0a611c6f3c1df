import type { CodeMessage, SmsSender } from '#shared/sms/port.ts';

/** A message in Persian of a seller without templates of its own. */
export const messageTo = (
  phone: string,
  code = '123456',
  own: Partial<Pick<CodeMessage, 'locale' | 'templates'>> = {},
): CodeMessage => ({ phone, code, locale: 'fa', templates: {}, ...own });

/** An SMS sender in memory, for tests. It keeps the messages it accepts, and fails as `failure` says for a phone. */
export const fakeSmsSender = (failure: (phone: string) => Error | undefined = () => undefined) => {
  const sent: CodeMessage[] = [];
  const sender: SmsSender = {
    async sendCode(message) {
      const error = failure(message.phone);
      if (error !== undefined) throw error;
      sent.push(message);
      return { provider: 'fake' };
    },
  };
  return { ...sender, sent: sent as readonly CodeMessage[] };
};
