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

const send = (reply: ScriptedReply, own: Parameters<typeof messageTo>[2] = {}) => {
  server.replyWith(() => reply);
  const secret = {
    kavenegar: {
      api_key: 'the/key',
      template: 'sign-in',
      template_en: 'sign-in-en',
      base_url: server.baseUrl,
    },
  };
  return smsSenderFrom(['kavenegar'], fixedSecret(JSON.stringify(secret))).sendCode(
    messageTo('+989990000001', '012345', own),
    neverAborted(),
  );
};

const replyOf = (status: unknown, httpStatus = 200, entries: unknown = null) => ({
  status: httpStatus,
  json: { return: { status, message: '' }, entries },
});

describe('kavenegar', () => {
  it('sends a form over a new connection to the path with the key, and the phone in its local form', async () => {
    await send(replyOf(200));
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers['content-type'], headers.connection]).toEqual([
      'POST',
      '/v1/the%2Fkey/verify/lookup.json',
      'application/x-www-form-urlencoded',
      'close',
    ]);
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      receptor: '09990000001',
      token: '012345',
      template: 'sign-in',
    });
  });

  it("sends a message in English with the stage's English template", async () => {
    await send(replyOf(200), { locale: 'en' });
    expect(new URLSearchParams(server.requests[0]?.body).get('template')).toBe('sign-in-en');
  });

  it.each([
    ['a list of entries', [{ messageid: 1, status: 5 }]],
    ['one entry', { messageid: 1, status: 5 }],
  ])('treats return.status 200 with %s as accepted', async (_form, entries) => {
    await expect(send(replyOf(200, 200, entries))).resolves.toEqual({ provider: 'kavenegar' });
  });

  /** Kavenegar's documented statuses. */
  const STATUSES: readonly (readonly [number, UnavailableReason])[] = [
    [400, 'rejected'],
    [401, 'credentials'],
    [402, 'upstream'],
    [403, 'credentials'],
    [404, 'rejected'],
    [405, 'rejected'],
    [406, 'rejected'],
    [407, 'credentials'],
    [409, 'upstream'],
    [411, 'rejected_number'],
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
  ];

  describe.each([
    ['the HTTP status is the same', (status: number) => status],
    ['the HTTP status is 200', () => 200],
  ])('if %s', (_how, httpStatus) => {
    itForAll(STATUSES)(
      'treats each documented return.status as not sent, with its reason, and calls once',
      async (status, reason) => {
        const failure = await failureOf(send(replyOf(status, httpStatus(status))));
        expect(summaryOf(failure)).toBe(`${reason}, not_sent, up`);
        expect(server.requests).toHaveLength(1);
      },
    );
  });

  it.each([
    ['a success with HTTP 500', replyOf(200, 500), 'upstream, possibly_sent, up'],
    ['a success with HTTP 201', replyOf(200, 201), 'no_verdict, possibly_sent, up'],
    ['an undocumented status', replyOf(999), 'no_verdict, possibly_sent, up'],
    ['an undocumented status with HTTP 599', replyOf(599, 599), 'upstream, possibly_sent, up'],
    ['no return field', { status: 200, json: {} }, 'no_verdict, possibly_sent, unknown'],
  ])('treats %s as possibly sent', async (_what, reply, said) => {
    expect(summaryOf(await failureOf(send(reply)))).toBe(said);
    expect(server.requests).toHaveLength(1);
  });
});
