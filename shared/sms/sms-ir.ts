/**
 * sms.ir `send/verify`: JSON by POST, the key in a header. The verdict is `status` in the body, 1 if the message was taken; the HTTP
 * status is 200, or 400, 401, 429, 500 beside an explanation.
 */
import * as v from 'valibot';
import { baseUrl, credential } from '#shared/providers/base-url.ts';
import { exchange } from '#shared/providers/exchange.ts';
import { provider } from '#shared/providers/provider.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { undocumented } from '#shared/providers/undocumented.ts';
import { toLocalPhone } from '#shared/users/phone.ts';
import type { SmsSender } from './port.ts';
import { SEND_CODE } from './port.ts';

const credentialsSchema = v.object({
  api_key: credential,
  template_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  base_url: baseUrl('https://api.sms.ir'),
});

/** The parameter of the template that takes the code; the provider's sandbox knows no other. */
const PARAMETER = 'Code';

const TAKEN = 1;

/** Every other documented status but 0: what the provider did not send, and why. */
const REASONS: ReadonlyMap<number, UnavailableReason> = new Map([
  [10, 'credentials'],
  [11, 'credentials'],
  [12, 'blocked'],
  [13, 'blocked'],
  [14, 'blocked'],
  [15, 'rejected'],
  [16, 'rejected'],
  [20, 'quota'],
  [101, 'rejected'],
  [102, 'balance'],
  [104, 'rejected'],
  [113, 'rejected'],
  [114, 'rejected'],
  [115, 'rejected'],
  [116, 'rejected'],
  [117, 'rejected'],
  [119, 'rejected'],
  [123, 'rejected'],
  [124, 'rejected'],
]);

/** "Error": it does not say that the message did not go out. */
const ERROR = 0;

const answerSchema = v.object({ status: v.number() });

export const smsIr = provider({
  name: 'sms-ir',
  credentials: credentialsSchema,
  open: ({ api_key: apiKey, template_id: templateId, base_url: base }): SmsSender => ({
    async sendCode(phone, code, signal) {
      const site = { provider: 'sms-ir', operation: SEND_CODE };
      const reply = await exchange(
        site,
        {
          method: 'POST',
          ownConnection: true,
          url: `${base}/v1/send/verify`,
          headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
          body: JSON.stringify({
            mobile: toLocalPhone(phone),
            templateId,
            parameters: [{ name: PARAMETER, value: code }],
          }),
        },
        signal,
      );
      const answer = v.safeParse(answerSchema, reply.json);
      if (!answer.success) throw undocumented(site, reply);
      const { status } = answer.output;
      if (status === TAKEN && reply.status === 200) return;
      if (status === ERROR) throw unavailable(site, 'upstream', { refused: false });
      const reason = REASONS.get(status);
      if (reason === undefined) throw undocumented(site, reply);
      throw unavailable(site, reason, { refused: true });
    },
  }),
});
