/** Kavenegar `verify/lookup`: a form, with the API key in the path, so no error or log line has the URL. The result is `return.status`. */
import * as v from 'valibot';
import { exchange } from '#shared/providers/exchange.ts';
import { baseUrl, credential, provider } from '#shared/providers/provider.ts';
import { codedFailure, type ProviderReply, unreadableReply } from '#shared/providers/reply.ts';
import { type CallSite, reasonsByCode } from '#shared/providers/unavailable.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { SEND_CODE, type SmsSender } from './port.ts';
import { templateFor } from './templates.ts';

const credentialsSchema = v.object({
  api_key: credential,
  /** The name of the approved Persian template, in which %token is the code. */
  template: credential,
  template_en: v.optional(credential),
  base_url: baseUrl('https://api.kavenegar.com'),
});

const SUCCEEDED = 200;

/** Every other documented status. The provider did not act. */
const REASONS = reasonsByCode({
  rejected: [400, 404, 405, 406, 412, 413, 414, 415, 417, 419, 420, 422, 424, 426, 427, 428, 431, 432, 501],
  rejected_number: [411],
  credentials: [401, 403, 407],
  upstream: [402, 409],
  blocked: [416, 429],
  balance: [418],
  quota: [451],
});

const replySchema = v.object({ return: v.object({ status: v.number() }) });

/** Throws ProviderUnavailable unless the response says that the request succeeded. */
const assertSucceeded = (site: CallSite, reply: ProviderReply): void => {
  const parsed = v.safeParse(replySchema, reply.json);
  if (!parsed.success) throw unreadableReply(site, reply);
  const { status } = parsed.output.return;
  if (status === SUCCEEDED && reply.status === 200) return;
  throw codedFailure(site, reply, REASONS.get(status));
};

export const kavenegar = provider({
  name: 'kavenegar',
  credentials: credentialsSchema,
  open: ({ api_key: apiKey, template: fa, template_en: en, base_url: base }): SmsSender => ({
    async sendCode({ phone, code, locale, templates }, signal) {
      const site = { provider: 'kavenegar', operation: SEND_CODE };
      const url = `${base}/v1/${encodeURIComponent(apiKey)}/verify/lookup.json`;
      const template = templateFor(locale, templates.kavenegar, { fa, en });
      const body = new URLSearchParams({ receptor: toLocalPhone(phone), token: code, template });
      assertSucceeded(site, await exchange(site, { url, body, ownConnection: true }, signal));
      return { provider: site.provider };
    },
  }),
});
