/** Simulates Kavenegar's `verify/lookup`: API key in the path, result in `return.status` and as the HTTP status. */
import { randomInt } from 'node:crypto';
import { randomBase62 } from '#shared/base62.ts';
import { APPROVED_TEMPLATES, STAGE_TEMPLATES } from './message-templates.ts';
import type { Outbox } from './outbox.ts';
import type { FaultReplies, SimulatedProvider, SimulatedReply } from './simulated-provider.ts';

const PATH = /^\/v1\/([^/]+)\/verify\/lookup\.json$/;
const PARAMETERS = ['receptor', 'token', 'token2', 'token3', 'token10', 'token20', 'template', 'type'];

const refuse = (status: number, httpStatus = status): SimulatedReply => ({
  status: httpStatus,
  json: { return: { status, message: 'درخواست انجام نشد' }, entries: null },
});

const FAULT_REPLIES: FaultReplies = {
  unauthorized: refuse(403),
  token_expired: refuse(401),
  quota: refuse(451),
  balance: refuse(418),
  blocked_address: refuse(416),
  upstream_down: { status: 503, json: { message: 'service unavailable' } },
  server_error: { status: 500, json: { message: 'internal error' } },
  error_in_200: refuse(402, 200),
  undecided: refuse(409),
  rejected: refuse(411),
};

/** A simulated Kavenegar with one account and its approved templates. */
export const simulatedKavenegar = (outbox: Outbox): SimulatedProvider => {
  const apiKey = randomBase62(64);

  const send = (form: URLSearchParams): SimulatedReply => {
    const receptor = form.get('receptor') ?? '';
    const token = form.get('token') ?? '';
    if ([...form.keys()].some((name) => !PARAMETERS.includes(name))) return refuse(400);
    if (token === '' || receptor === '') return refuse(406);
    if (!/^09\d{9}$/.test(receptor)) return refuse(411);
    const template = APPROVED_TEMPLATES.find(({ name }) => name === form.get('template'));
    if (template === undefined) return refuse(424);
    if (/[\s_:-]/.test(token)) return refuse(431);
    const message = { phone: receptor, code: token, provider: 'kavenegar', template: template.name };
    return outbox.deliver(message, FAULT_REPLIES) ?? accepted(receptor, `کد ورود: ${token}`);
  };

  return {
    credentials: {
      api_key: apiKey,
      template: STAGE_TEMPLATES.fa.name,
      template_en: STAGE_TEMPLATES.en.name,
    },
    operationOf: ({ path }) => (PATH.test(path) ? 'send_code' : undefined),
    unknownPath: refuse(404),
    respond({ method, path, headers, body }, _operation, fault) {
      if (fault !== undefined) return FAULT_REPLIES[fault];
      if (PATH.exec(path)?.[1] !== apiKey) return refuse(403);
      const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
      return method === 'POST' && isForm ? send(new URLSearchParams(body)) : refuse(405);
    },
  };
};

const accepted = (receptor: string, message: string): SimulatedReply => ({
  status: 200,
  json: {
    return: { status: 200, message: 'تایید شد' },
    entries: [
      {
        messageid: randomInt(1e9),
        message,
        status: 5,
        statustext: 'ارسال به مخابرات',
        sender: '10004346',
        receptor,
        date: Math.floor(Date.now() / 1000),
        cost: 120,
      },
    ],
  },
});
