import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { itForAll } from '#test/for-all.ts';
import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import {
  type ReceivedRequest,
  type ScriptedReply,
  scriptedServer,
} from '#test/shared/providers/scripted-server.ts';

quietLog();
const server = scriptedServer();

const send = (reply: ScriptedReply) => {
  server.replyWith(() => reply);
  const secret = {
    'sms-ir': { api_key: 'the-key', template_id: 123456, base_url: server.baseUrl },
  };
  return smsSenderFrom(['sms-ir'], fixedSecret(JSON.stringify(secret))).sendCode(
    messageTo('+989990000001', '012345'),
    neverAborted(),
  );
};

const replyOf = (httpStatus: number, status: unknown) => ({
  status: httpStatus,
  json: { status, message: '', data: null },
});

describe('smsIr', () => {
  it('sends the code over a new connection as the parameter of the template, and the key in a header', async () => {
    await send(replyOf(200, 1));
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers['x-api-key'], headers['content-type'], headers.connection]).toEqual([
      'POST',
      '/v1/send/verify',
      'the-key',
      'application/json',
      'close',
    ]);
    expect(JSON.parse(body)).toEqual({
      mobile: '09990000001',
      templateId: 123456,
      parameters: [{ name: 'Code', value: '012345' }],
    });
  });

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
    [400, 104, 'rejected_number'],
    [400, 113, 'rejected'],
    [400, 114, 'rejected'],
    [400, 115, 'rejected_number'],
    [400, 116, 'rejected'],
    [400, 117, 'rejected'],
    [400, 119, 'rejected'],
    [400, 123, 'rejected'],
    [400, 124, 'rejected'],
    [200, 102, 'balance'],
  ];

  itForAll(STATUSES)(
    'treats each documented status as not sent, with its reason, and calls once',
    async (httpStatus, status, reason) => {
      const failure = await failureOf(send(replyOf(httpStatus, status)));
      expect(summaryOf(failure)).toBe(`${reason}, not_sent, up`);
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each([
    ['status 0, "error"', replyOf(500, 0), 'upstream, possibly_sent, up'],
    ['status 0 with 200', replyOf(200, 0), 'upstream, possibly_sent, up'],
    ['a success with HTTP 500', replyOf(500, 1), 'upstream, possibly_sent, up'],
    ['an undocumented status', replyOf(400, 199), 'no_verdict, possibly_sent, up'],
    // A proxy that repeats the HTTP status in its own JSON.
    ['a status that is an HTTP status', replyOf(503, 503), 'upstream, possibly_sent, down'],
    ['a status of 200', replyOf(400, 200), 'no_verdict, possibly_sent, unknown'],
  ])('treats %s as possibly sent', async (_what, reply, said) => {
    expect(summaryOf(await failureOf(send(reply)))).toBe(said);
    expect(server.requests).toHaveLength(1);
  });
});
