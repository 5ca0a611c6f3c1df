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
  const secret = { 'sms-ir': { api_key: 'the-key', template_id: 123456, base_url: server.baseUrl } };
  return smsSenderFrom(['sms-ir'], fixedSecret(JSON.stringify(secret))).sendCode(
    '+989990000001',
    '012345',
    noHurry(),
  );
};

const says = (httpStatus: number, status: unknown) => ({
  status: httpStatus,
  json: { status, message: '', data: null },
});

it('sends by a connection of its own, which cannot have died unseen', async () => {
  await send(says(200, 1));
  expect(server.requests[0]?.headers.connection).toBe('close');
});

it('sends the code as the parameter of the template, the key in a header', async () => {
  await send(says(200, 1));
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
  'takes HTTP %i with status %i as not sent: %s, and asks once',
  async (httpStatus, status, reason) => {
    expect(gistOf(await failureOf(send(says(httpStatus, status))))).toEqual({ reason, refused: true });
    expect(server.requests).toHaveLength(1);
  },
);

it.each([
  ['status 0, "error"', says(500, 0), 'upstream'],
  ['status 0 with 200', says(200, 0), 'upstream'],
  ['a success by HTTP 500', says(500, 1), 'upstream'],
  ['a status that nobody documented', says(400, 999), 'malformed'],
  ['a status that is a text', says(200, '1'), 'malformed'],
  ['null', { status: 200, json: null }, 'malformed'],
  ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
  ['half of a JSON', { status: 200, text: '{"status":1,' }, 'malformed'],
  ['a bare 401', { status: 401, text: '' }, 'credentials'],
  ['a bare 403', { status: 403, text: '' }, 'blocked'],
  ['a bare 429', { status: 429, text: '' }, 'quota'],
  ['a bare 500', { status: 500, text: '' }, 'upstream'],
] as const)('is not sure after %s', async (_what, reply, reason) => {
  expect(gistOf(await failureOf(send(reply)))).toEqual({ reason, refused: false });
  expect(server.requests).toHaveLength(1);
});
