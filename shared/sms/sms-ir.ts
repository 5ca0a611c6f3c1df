/** sms.ir `send/verify`: JSON, with the key in a header. The result is `status` in the body, 1 if the message was accepted. */
import * as v from 'valibot';
import { exchange } from '#shared/providers/exchange.ts';
import { baseUrl, credential, provider } from '#shared/providers/provider.ts';
import { codedFailure, type ProviderReply, unreadableReply } from '#shared/providers/reply.ts';
import { type CallSite, ProviderUnavailable, reasonsByCode } from '#shared/providers/unavailable.ts';
import { toLocalPhone } from '#shared/values/phone.ts';
import { SEND_CODE, type SmsSender } from './port.ts';
import { templateFor, templateIdSchema } from './templates.ts';

const credentialsSchema = v.object({
  api_key: credential,
  /** The number of the approved Persian template. */
  template_id: templateIdSchema,
  template_id_en: v.optional(templateIdSchema),
  base_url: baseUrl('https://api.sms.ir'),
});

/** The parameter of the template that holds the code; the provider's sandbox accepts no other name. */
const PARAMETER = 'Code';

const SUCCEEDED = 1;

/** Every other documented status except 0. The provider did not act. */
const REASONS = reasonsByCode({
  credentials: [10, 11],
  blocked: [12, 13, 14],
  rejected: [15, 16, 101, 113, 114, 116, 117, 119, 123, 124],
  // It is no mobile number, or in the provider's blacklist.
  rejected_number: [104, 115],
  quota: [20],
  balance: [102],
});

/** "Error". The message was possibly sent. */
const ERROR = 0;

/** Documented statuses are below 200. A proxy's own JSON may repeat its HTTP status in a field of this name. */
const replySchema = v.object({ status: v.pipe(v.number(), v.maxValue(199)) });

/** Throws ProviderUnavailable unless the response says that the request succeeded. */
const assertSucceeded = (site: CallSite, reply: ProviderReply): void => {
  const parsed = v.safeParse(replySchema, reply.json);
  if (!parsed.success) throw unreadableReply(site, reply);
  const { status: code } = parsed.output;
  if (code === SUCCEEDED && reply.status === 200) return;
  if (code === ERROR) {
    throw new ProviderUnavailable(site, 'upstream', { delivery: 'possibly_sent', health: 'up' });
  }
  throw codedFailure(site, reply, REASONS.get(code));
};

export const smsIr = provider({
  name: 'sms-ir',
  credentials: credentialsSchema,
  open: ({ api_key: apiKey, template_id: fa, template_id_en: en, base_url: base }): SmsSender => ({
    async sendCode({ phone, code, locale, templates }, signal) {
      const site = { provider: 'sms-ir', operation: SEND_CODE };
      const request = {
        url: `${base}/v1/send/verify`,
        headers: { 'x-api-key': apiKey },
        body: {
          mobile: toLocalPhone(phone),
          templateId: templateFor(locale, templates['sms-ir'], { fa, en }),
          parameters: [{ name: PARAMETER, value: code }],
        },
        ownConnection: true,
      };
      assertSucceeded(site, await exchange(site, request, signal));
      return { provider: site.provider };
    },
  }),
});
