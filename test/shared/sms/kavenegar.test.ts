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
  it('uses a new connection for each message', async () => {
    await send(replyOf(200));
    expect(server.requests[0]?.headers.connection).toBe('close');
  });

  it('sends a form to the path with the key, and the phone in its local form', async () => {
    await send(replyOf(200));
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers['content-type'], Object.fromEntries(new URLSearchParams(body))]).toEqual([
      'POST',
      '/v1/the%2Fkey/verify/lookup.json',
      'application/x-www-form-urlencoded',
      { receptor: '09990000001', token: '012345', template: 'sign-in' },
    ]);
  });

  it.each([
    ['fa', {}, 'sign-in'],
    ['en', {}, 'sign-in-en'],
    ['fa', { kavenegar: { fa: 'kaveh' }, 'sms-ir': { fa: 7 } }, 'kaveh'],
    ['en', { kavenegar: { fa: 'kaveh', en: 'kaveh-en' } }, 'kaveh-en'],
    ['en', { 'sms-ir': { en: 7 } }, 'sign-in-en'],
  ] as const)(
    'sends a message in %s for a seller with the templates %j as %s',
    async (locale, templates, name) => {
      await send(replyOf(200), { locale, templates });
      expect(new URLSearchParams(server.requests[0]?.body).get('template')).toBe(name);
    },
  );

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
  ];

  describe.each([
    ['the HTTP status is the same', (status: number) => status],
    ['the HTTP status is 200', () => 200],
  ])('if %s', (_how, httpStatus) => {
    itForAll(STATUSES)(
      'treats each documented return.status as not sent, with its reason, and calls once',
      async (status, reason) => {
        expect(summaryOf(await failureOf(send(replyOf(status, httpStatus(status)))))).toEqual({
          reason,
          delivery: 'not_sent',
        });
        expect(server.requests).toHaveLength(1);
      },
    );
  });

  it.each([
    ['a success with HTTP 500', replyOf(200, 500), 'upstream'],
    ['a success with HTTP 201', replyOf(200, 201), 'no_verdict'],
    ['an undocumented status', replyOf(999), 'no_verdict'],
    ['a status that is a string', replyOf('200'), 'no_verdict'],
    ['no return field', { status: 200, json: {} }, 'no_verdict'],
    ['null', { status: 200, json: null }, 'no_verdict'],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['403 with HTML', { status: 403, text: '<html>' }, 'blocked'],
  ] as const)('treats %s as possibly sent', async (_what, reply, reason) => {
    expect(summaryOf(await failureOf(send(reply)))).toEqual({ reason, delivery: 'possibly_sent' });
    expect(server.requests).toHaveLength(1);
  });
});
