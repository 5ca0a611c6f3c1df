import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
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

const ID = '9990000010';
const PHONE = '+989990000001';
const DAY = { year: 1370, month: 1, day: 5 };

const zohalReplying = (reply: ScriptedReply) => {
  server.replyWith(() => reply);
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
const successWith = (data: unknown) => ({ status: 200, json: envelope(1, data) });

const checkIdentity = (reply: ScriptedReply) => zohalReplying(reply).checkIdentity(ID, DAY, neverAborted());

describe('the request', () => {
  it('requests a person with the zero-padded day of birth', async () => {
    await checkIdentity(successWith({ matched: true, alive: true }));
    const { method, path, headers, body } = server.requests[0] as ReceivedRequest;
    expect([method, path, headers.authorization, headers['content-type']]).toEqual([
      'POST',
      '/api/v0/services/inquiry/national_identity_inquiry',
      'Bearer the-token',
      'application/json',
    ]);
    expect(JSON.parse(body)).toEqual({ national_code: ID, birth_date: '1370/01/05' });
  });

  it('requests the match of a phone in its local form', async () => {
    await zohalReplying(successWith({ matched: true })).checkPhoneOwnership(ID, PHONE, neverAborted());
    const { method, path, body } = server.requests[0] as ReceivedRequest;
    expect([method, path]).toEqual(['POST', '/api/v0/services/inquiry/shahkar']);
    expect(JSON.parse(body)).toEqual({ national_code: ID, mobile: '09990000001' });
  });
});

describe('the verdict', () => {
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
  ])('of the record %j is %s', async (data, verdict) => {
    expect(await checkIdentity(successWith(data))).toBe(verdict);
  });

  it.each([
    ['does not say whether the person is alive', { matched: true }],
    ['says null', { matched: true, alive: null, is_dead: null }],
    ['contradicts itself: alive and dead', { matched: true, alive: true, is_dead: true }],
    ['contradicts itself: neither', { matched: true, alive: false, is_dead: false }],
    ['is that of another person', { matched: true, alive: false, national_code: '9990000029' }],
  ])('does not come from a record that %s', async (_what, data) => {
    const failure = await failureOf(checkIdentity(successWith(data)));
    expect(summaryOf(failure)).toBe('no_verdict, possibly_sent, unknown');
  });
});

/** Zohal's documented codes: HTTP status, result, error_code, reason, and the number of inquiries sent. */
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

describe('an error', () => {
  itForAll(CODES)(
    'with a documented code is no verdict, with its reason, after one inquiry or two',
    async (status, result, errorCode, reason, inquiries) => {
      const json = envelope(result, { matched: false, alive: false }, errorCode);
      expect(summaryOf(await failureOf(checkIdentity({ status, json })))).toBe(`${reason}, not_sent, up`);
      expect(server.requests).toHaveLength(inquiries);
    },
  );

  it.each([
    [
      'a match with an error code',
      200,
      envelope(1, { matched: false }, 'unknown_code'),
      'no_verdict, possibly_sent, up',
    ],
    ['a match with an unknown result', 200, envelope(7, { matched: false }), 'no_verdict, possibly_sent, up'],
    [
      'a match with result 1 and HTTP 500',
      500,
      envelope(1, { matched: false }),
      'upstream, possibly_sent, down',
    ],
    ['no data', 200, envelope(1, null), 'no_verdict, possibly_sent, unknown'],
    ['no body', 200, { result: 1 }, 'no_verdict, possibly_sent, unknown'],
  ])('is no verdict, and neither is %s', async (_what, status, json, said) => {
    expect(summaryOf(await failureOf(checkIdentity({ status, json })))).toBe(said);
  });
});
