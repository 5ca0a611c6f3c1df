import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import {
  type ReceivedRequest,
  type ScriptedReply,
  scriptedServer,
} from '#test/shared/providers/scripted-server.ts';

quietLog();
const server = scriptedServer();

const send = (reply: ScriptedReply, own: Parameters<typeof messageTo>[2] = {}) => {
  server.replyWith(() => reply);
  const secret = {
    'sms-ir': { api_key: 'the-key', template_id: 123456, template_id_en: 123457, base_url: server.baseUrl },
  };
  return smsSenderFrom(['sms-ir'], fixedSecret(JSON.stringify(secret))).sendCode(
    messageTo('+989990000001', '012345', own),
    neverAborted(),
  );
};

const replyOf = (httpStatus: number, status: unknown) => ({
  status: httpStatus,
  json: { status, message: '', data: null },
});

describe('smsIr', () => {
  it('uses a new connection for each message', async () => {
    await send(replyOf(200, 1));
    expect(server.requests[0]?.headers.connection).toBe('close');
  });

  it('sends the code as the parameter of the template, and the key in a header', async () => {
    await send(replyOf(200, 1));
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers['x-api-key'], headers['content-type']]).toEqual([
      'POST',
      '/v1/send/verify',
      'the-key',
      'application/json',
    ]);
    expect(JSON.parse(body)).toEqual({
      mobile: '09990000001',
      templateId: 123456,
      parameters: [{ name: 'Code', value: '012345' }],
    });
  });

  it.each([
    ['fa', {}, 123456],
    ['en', {}, 123457],
    ['fa', { 'sms-ir': { fa: 7 }, kavenegar: { fa: 'kaveh' } }, 7],
    ['en', { 'sms-ir': { fa: 7, en: 8 } }, 8],
    ['en', { kavenegar: { en: 'kaveh-en' } }, 123457],
  ] as const)(
    'sends a message in %s for a seller with the templates %j as %i',
    async (locale, templates, id) => {
      await send(replyOf(200, 1), { locale, templates });
      expect(JSON.parse(server.requests[0]?.body ?? '').templateId).toBe(id);
    },
  );

  /** sms.ir's documented statuses. */
  const STATUSES: readonly (readonly [number, number, UnavailableReason])[] = [
    [401, 10, 'credentials'],
    [401, 11, 'credentials'],
    [401, 12, 'blocked'],
    [401, 13, 'blocked'],
    [401, 14, 'blocked'],
    [400, 15, 'rejected'],
    [400, 16, 'rejected'],
    [429, 20, 'quota'],
    [400, 101, 'rejected'],
    [400, 102, 'balance'],
    [400, 104, 'rejected'],
    [400, 113, 'rejected'],
    [400, 114, 'rejected'],
    [400, 115, 'rejected'],
    [400, 116, 'rejected'],
    [400, 117, 'rejected'],
    [400, 119, 'rejected'],
    [400, 123, 'rejected'],
    [400, 124, 'rejected'],
    [200, 102, 'balance'],
  ];

  it.each(STATUSES)(
    'treats HTTP %i with status %i as not sent, with the reason %s, and calls once',
    async (httpStatus, status, reason) => {
      expect(summaryOf(await failureOf(send(replyOf(httpStatus, status))))).toEqual({
        reason,
        delivery: 'not_sent',
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    ['status 0, "error"', replyOf(500, 0), 'upstream'],
    ['status 0 with 200', replyOf(200, 0), 'upstream'],
    ['a success with HTTP 500', replyOf(500, 1), 'upstream'],
    ['an undocumented status', replyOf(400, 999), 'no_verdict'],
    ['a status that is a string', replyOf(200, '1'), 'no_verdict'],
    ['null', { status: 200, json: null }, 'no_verdict'],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['403 without a body', { status: 403, text: '' }, 'blocked'],
  ] as const)('treats %s as possibly sent', async (_what, reply, reason) => {
    expect(summaryOf(await failureOf(send(reply)))).toEqual({ reason, delivery: 'possibly_sent' });
    expect(server.requests).toHaveLength(1);
  });
});
