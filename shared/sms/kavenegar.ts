/**
 * Kavenegar `verify/lookup`: a form by POST, the API key in the path, so the URL stands in no error and no log. The verdict is
 * `return.status` in the body; the HTTP status mirrors it or is 200.
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
  /** The name of the approved template; its %token is the code. */
  template: credential,
  base_url: baseUrl('https://api.kavenegar.com'),
});

const TAKEN = 200;

/** Every other documented status: what the provider did not send, and why. */
const REASONS: ReadonlyMap<number, UnavailableReason> = new Map([
  [400, 'rejected'],
  [401, 'credentials'],
  [402, 'upstream'],
  [403, 'credentials'],
  [404, 'rejected'],
  [405, 'rejected'],
  [406, 'rejected'],
  [407, 'credentials'],
  [409, 'upstream'],
  [411, 'rejected'],
  [412, 'rejected'],
  [413, 'rejected'],
  [414, 'rejected'],
  [415, 'rejected'],
  [416, 'blocked'],
  [417, 'rejected'],
  [418, 'balance'],
  [419, 'rejected'],
  [420, 'rejected'],
  [422, 'rejected'],
  [424, 'rejected'],
  [426, 'rejected'],
  [427, 'rejected'],
  [428, 'rejected'],
  [429, 'blocked'],
  [431, 'rejected'],
  [432, 'rejected'],
  [451, 'quota'],
  [501, 'rejected'],
]);

const answerSchema = v.object({ return: v.object({ status: v.number() }) });

export const kavenegar = provider({
  name: 'kavenegar',
  credentials: credentialsSchema,
  open: ({ api_key: apiKey, template, base_url: base }): SmsSender => ({
    async sendCode(phone, code, signal) {
      const site = { provider: 'kavenegar', operation: SEND_CODE };
      const reply = await exchange(
        site,
        {
          method: 'POST',
          ownConnection: true,
          url: `${base}/v1/${encodeURIComponent(apiKey)}/verify/lookup.json`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ receptor: toLocalPhone(phone), token: code, template }).toString(),
        },
        signal,
      );
      const answer = v.safeParse(answerSchema, reply.json);
      if (!answer.success) throw undocumented(site, reply);
      const { status } = answer.output.return;
      if (status === TAKEN && reply.status === 200) return;
      const reason = REASONS.get(status);
      if (reason === undefined) throw undocumented(site, reply);
      throw unavailable(site, reason, { refused: true });
    },
  }),
});
