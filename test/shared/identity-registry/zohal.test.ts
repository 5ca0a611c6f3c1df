import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import type { UnavailableReason } from '#shared/providers/unavailable.ts';
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

const ID = '9990000010';
const PHONE = '+989990000001';
const DAY = { year: 1370, month: 1, day: 5 };

const zohalThat = (reply: ScriptedReply) => {
  server.answer(() => reply);
  const secret = { zohal: { token: 'the-token', base_url: `${server.baseUrl}/api/v0/` } };
  return identityRegistryFrom(['zohal'], fixedSecret(JSON.stringify(secret)), {
    retryPauseMs: () => 1,
    circuit: { failuresToOpen: 1000 },
  });
};

const envelope = (result: unknown, data: unknown, error_code: unknown = null) => ({
  result,
  response_body: { data, message: '', error_code },
});
const says = (data: unknown) => ({ status: 200, json: envelope(1, data) });

const OPERATIONS = ['checkIdentity', 'checkPhoneOwnership'] as const;

const ask = (operation: (typeof OPERATIONS)[number], reply: ScriptedReply) =>
  ({
    checkIdentity: () => zohalThat(reply).checkIdentity(ID, DAY, noHurry()),
    checkPhoneOwnership: () => zohalThat(reply).checkPhoneOwnership(ID, PHONE, noHurry()),
  })[operation]();

describe('what is sent', () => {
  it('asks for a person with the day of birth in slashes, padded', async () => {
    await zohalThat(says({ matched: true, alive: true })).checkIdentity(ID, DAY, noHurry());
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers.authorization, headers['content-type']]).toEqual([
      'POST',
      '/api/v0/services/inquiry/national_identity_inquiry',
      'Bearer the-token',
      'application/json',
    ]);
    expect(JSON.parse(body)).toEqual({ national_code: ID, birth_date: '1370/01/05' });
  });

  it('asks for the match of a phone in its local form', async () => {
    await zohalThat(says({ matched: true })).checkPhoneOwnership(ID, PHONE, noHurry());
    const { method, path, body } = server.requests[0] as ReceivedRequest;
    expect([method, path]).toEqual(['POST', '/api/v0/services/inquiry/shahkar']);
    expect(JSON.parse(body)).toEqual({ national_code: ID, mobile: '09990000001' });
  });
});

describe('verdicts', () => {
  it.each([
    [{ matched: true, alive: true, is_dead: false }, 'matched'],
    [{ matched: true, alive: true }, 'matched'],
    [{ matched: true, is_dead: false, alive: null }, 'matched'],
    [{ matched: true, alive: true, national_code: ID }, 'matched'],
    [{ matched: true, alive: false, is_dead: true }, 'deceased'],
    [{ matched: true, is_dead: true }, 'deceased'],
    [{ matched: true, alive: false }, 'deceased'],
    [{ matched: false, alive: null, first_name: null }, 'not_found'],
    [{ matched: false, alive: true }, 'not_found'],
  ])('takes the record %j as %s', async (data, verdict) => {
    expect(await ask('checkIdentity', says(data))).toBe(verdict);
  });

  it.each([
    [true, 'matched'],
    [false, 'not_matched'],
  ])('takes the match %s as %s', async (matched, verdict) => {
    expect(await ask('checkPhoneOwnership', says({ matched }))).toBe(verdict);
  });

  it.each([
    ['does not say whether the person lives', { matched: true }],
    ['says null of it', { matched: true, alive: null, is_dead: null }],
    ['contradicts itself: alive and dead', { matched: true, alive: true, is_dead: true }],
    ['contradicts itself: neither', { matched: true, alive: false, is_dead: false }],
    ['is another person’s', { matched: true, alive: false, national_code: '9990000029' }],
  ])('does not believe a record that %s', async (_what, data) => {
    expect(gistOf(await failureOf(ask('checkIdentity', says(data))))).toEqual({
      reason: 'malformed',
      refused: false,
    });
  });
});

/** Zohal's documented words and numbers: the HTTP status, and how often the inquiry is made. */
const CODES: readonly (readonly [number, number, unknown, UnavailableReason, number])[] = [
  [401, 4, 'not_authenticated', 'credentials', 1],
  [401, 4, 'unauthorized', 'credentials', 1],
  [200, 4, 'invalid_token', 'credentials', 1],
  [403, 4, 'permission_denied', 'credentials', 1],
  [401, 4, null, 'credentials', 1],
  [500, 5, 'internal_error', 'upstream', 2],
  [200, 5, null, 'upstream', 2],
  [503, 6, 'service_unavailable', 'upstream', 2],
  [200, 6, 'service_unavailable', 'upstream', 2],
  [400, 6, 'invalid', 'rejected', 1],
  [400, 6, 'NATIONAL_ID_INVALID', 'rejected', 1],
  [400, 4, null, 'rejected', 1],
  [200, 6, null, 'undecided', 1],
];

describe.each(OPERATIONS)('%s', (operation) => {
  it.each(CODES)(
    'takes HTTP %i, result %i, error_code %s as %s, asking %i time(s), and never as a verdict',
    async (status, result, errorCode, reason, asked) => {
      const reply = { status, json: envelope(result, { matched: false, alive: false }, errorCode) };
      expect(gistOf(await failureOf(ask(operation, reply)))).toEqual({ reason, refused: true });
      expect(server.requests).toHaveLength(asked);
    },
  );

  it.each([
    [
      'a match beside an error code',
      { status: 200, json: envelope(1, { matched: false }, 'unknown_word') },
      'malformed',
    ],
    ['a match with an unknown result', { status: 200, json: envelope(7, { matched: false }) }, 'malformed'],
    [
      'a match with result 1 and HTTP 500',
      { status: 500, json: envelope(1, { matched: false }) },
      'upstream',
    ],
    ['a result that is a text', { status: 200, json: envelope('1', { matched: false }) }, 'malformed'],
    ['a match that is a text', says({ matched: 'false' }), 'malformed'],
    ['a match that is a number', says({ matched: 0 }), 'malformed'],
    ['no data', says(null), 'malformed'],
    ['no body', { status: 200, json: { result: 1 } }, 'malformed'],
    [
      'the older envelope',
      { status: 200, json: { data: { result: [envelope(1, { matched: false })] } } },
      'malformed',
    ],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['half of a JSON', { status: 200, text: '{"result":1,"response_bo' }, 'malformed'],
    ['a bare 401', { status: 401, text: '' }, 'credentials'],
    ['a bare 403', { status: 403, json: { message: 'no' } }, 'blocked'],
    ['a bare 429', { status: 429, text: '' }, 'quota'],
    ['a bare 503', { status: 503, text: '' }, 'upstream'],
  ] as const)('takes %s for no verdict', async (_what, reply, reason) => {
    expect(gistOf(await failureOf(ask(operation, reply)))).toEqual({ reason, refused: false });
  });
});
