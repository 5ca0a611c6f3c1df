import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, gistOf, noHurry } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import {
  type ReceivedRequest,
  type ScriptedReply,
  scriptedServer,
} from '#test/shared/providers/scripted-server.ts';

quietLog();
const server = scriptedServer();

const send = (reply: ScriptedReply): Promise<void> => {
  server.answer(() => reply);
  const secret = { kavenegar: { api_key: 'the/key', template: 'sign-in', base_url: server.baseUrl } };
  return smsSenderFrom(['kavenegar'], fixedSecret(JSON.stringify(secret))).sendCode(
    '+989990000001',
    '012345',
    noHurry(),
  );
};

const says = (status: unknown, httpStatus = 200, entries: unknown = null) => ({
  status: httpStatus,
  json: { return: { status, message: '' }, entries },
});

it('sends by a connection of its own, which cannot have died unseen', async () => {
  await send(says(200));
  expect(server.requests[0]?.headers.connection).toBe('close');
});

it('sends a form to the path that holds the key, the phone in its local form', async () => {
  await send(says(200));
  const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
  expect([method, path, headers['content-type'], Object.fromEntries(new URLSearchParams(body))]).toEqual([
    'POST',
    '/v1/the%2Fkey/verify/lookup.json',
    'application/x-www-form-urlencoded',
    { receptor: '09990000001', token: '012345', template: 'sign-in' },
  ]);
});

it.each([
  ['a list of entries', [{ messageid: 1, status: 5 }]],
  ['one entry', { messageid: 1, status: 5 }],
])('takes return.status 200 with %s as sent', async (_form, entries) => {
  await expect(send(says(200, 200, entries))).resolves.toBeUndefined();
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
  // fetch keeps an answer with 407 from its caller (it takes it for a proxy's), so that one is tested by itself below.
  ['the HTTP status says the same', (status: number) => (status === 407 ? 403 : status)],
  ['the HTTP status is 200', () => 200],
])('where %s', (_how, httpStatus) => {
  it.each(STATUSES)('takes return.status %i as not sent: %s, and asks once', async (status, reason) => {
    expect(gistOf(await failureOf(send(says(status, httpStatus(status)))))).toEqual({
      reason,
      refused: true,
    });
    expect(server.requests).toHaveLength(1);
  });
});

it.each([
  ['a success by HTTP 500', says(200, 500), 'upstream'],
  ['a success by HTTP 201', says(200, 201), 'malformed'],
  ['a status that nobody documented', says(999), 'malformed'],
  ['a status that is a text', says('200'), 'malformed'],
  ['no return', { status: 200, json: {} }, 'malformed'],
  ['null', { status: 200, json: null }, 'malformed'],
  ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
  ['half of a JSON', { status: 200, text: '{"return":{"sta' }, 'malformed'],
  ['a bare 500', { status: 500, text: '' }, 'upstream'],
  ['a 502 of a box on the way', { status: 502, text: '<html>' }, 'upstream'],
  ['a bare 403 of a box on the way', { status: 403, text: '<html>' }, 'blocked'],
  ['a bare 401', { status: 401, text: '' }, 'credentials'],
  ['a bare 429', { status: 429, text: '' }, 'quota'],
] as const)('is not sure after %s', async (_what, reply, reason) => {
  expect(gistOf(await failureOf(send(reply)))).toEqual({ reason, refused: false });
  expect(server.requests).toHaveLength(1);
});

it('is not sure after HTTP 407, whose body the HTTP client keeps to itself', async () => {
  expect(gistOf(await failureOf(send(says(407, 407))))).toEqual({ reason: 'transport', refused: false });
  expect(server.requests).toHaveLength(1);
});
