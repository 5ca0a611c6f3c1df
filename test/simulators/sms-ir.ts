/** Simulates sms.ir's `send/verify`: key in a header, JSON body, result in `status`. */
import { randomInt } from 'node:crypto';
import { randomBase62 } from '#shared/base62.ts';
import { APPROVED_TEMPLATES, STAGE_TEMPLATES } from './message-templates.ts';
import type { Outbox } from './outbox.ts';
import {
  type FaultReplies,
  jsonFields,
  type SimulatedProvider,
  type SimulatedReply,
} from './simulated-provider.ts';

const refuse = (httpStatus: number, status: number): SimulatedReply => ({
  status: httpStatus,
  json: { status, message: 'درخواست انجام نشد', data: null },
});

const FAULT_REPLIES: FaultReplies = {
  unauthorized: refuse(401, 10),
  token_expired: refuse(401, 11),
  quota: refuse(429, 20),
  balance: refuse(400, 102),
  blocked_address: refuse(401, 12),
  upstream_down: { status: 503, json: { message: 'service unavailable' } },
  server_error: refuse(500, 0),
  error_in_200: refuse(200, 102),
  undecided: refuse(200, 0),
  rejected: refuse(400, 104),
};

const MAX_VALUE_LENGTH = 25;

/** A simulated sms.ir with one account and its approved templates. */
export const simulatedSmsIr = (outbox: Outbox): SimulatedProvider => {
  const apiKey = randomBase62(64);

  const send = (sent: Readonly<Record<string, unknown>>): SimulatedReply => {
    const mobile = /^(?:\+98|0098|0)?(9\d{9})$/.exec(String(sent.mobile))?.[1];
    if (mobile === undefined) return refuse(400, 104);
    const template = APPROVED_TEMPLATES.find(({ id }) => id === sent.templateId);
    if (template === undefined) return refuse(400, 113);
    const code = codeIn(sent.parameters);
    if (code === undefined) return refuse(400, 116);
    if (code.length > MAX_VALUE_LENGTH) return refuse(400, 114);
    const data = { messageId: randomInt(1e9), cost: 1 };
    const accepted = { status: 200, json: { status: 1, message: 'موفق', data } };
    const message = { phone: `0${mobile}`, code, provider: 'sms-ir', template: template.id };
    return outbox.deliver(message, FAULT_REPLIES) ?? accepted;
  };

  return {
    credentials: {
      api_key: apiKey,
      template_id: STAGE_TEMPLATES.fa.id,
      template_id_en: STAGE_TEMPLATES.en.id,
    },
    operationOf: ({ method, path }) =>
      method === 'POST' && path === '/v1/send/verify' ? 'send_code' : undefined,
    unknownPath: { status: 404, json: { message: 'not found' } },
    respond({ headers, body }, _operation, fault) {
      if (fault !== undefined) return FAULT_REPLIES[fault];
      if (headers['x-api-key'] !== apiKey) return FAULT_REPLIES.unauthorized;
      const sent = jsonFields(body);
      return sent === undefined ? refuse(400, 16) : send(sent);
    },
  };
};

/** Returns the value of the template's only parameter, `Code`. */
const codeIn = (parameters: unknown): string | undefined => {
  if (!Array.isArray(parameters) || parameters.length !== 1) return undefined;
  const { name, value } = (parameters[0] ?? {}) as { name?: unknown; value?: unknown };
  return name === 'Code' && typeof value === 'string' ? value : undefined;
};
