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
const ID = '9990000010';
const PHONE = '+989990000001';
const DAY = { year: 1370, month: 1, day: 5 };

const server = scriptedServer();

/** The registry over the server, without tokens yet. */
const registry = () =>
  identityRegistryFrom(
    ['jibit'],
    fixedSecret(
      JSON.stringify({
        jibit: { api_key: 'the-key', secret_key: 'the-secret', base_url: `${server.baseUrl}/ide` },
      }),
    ),
    { retryPauseMs: () => 1, circuit: { failuresToOpen: 1000 } },
  );

/** Makes the server issue the tokens `t1`, `t2`, … and respond to inquiries with `inquiry`. Returns a registry over it. */
const replying = (inquiry: (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>) => {
  let tokens = 0;
  server.replyWith((request) => {
    if (!request.path.startsWith('/ide/v1/tokens/')) return inquiry(request);
    tokens += 1;
    return { status: 200, json: { accessToken: `t${tokens}`, refreshToken: `r${tokens}` } };
  });
  return registry();
};

/** The paths requested so far. */
const paths = () => server.requests.map(({ path }) => path.replace('/ide/v1/', ''));

/** A response with a person's record. */
const record = (fields: object = {}) => ({
  status: 200,
  json: {
    nationalCode: ID,
    birthDate: '13700105',
    identityInfo: { nationalCode: ID, alive: true, ...fields },
  },
});

const FORBIDDEN = { status: 403, json: { code: 'forbidden', message: '' } };

describe('jibit', () => {
  it('generates one token with both parts of the credentials for all inquiries', async () => {
    const jibit = replying(() => record());
    await jibit.checkIdentity(ID, DAY, neverAborted());
    await jibit.checkIdentity(ID, DAY, neverAborted());
    expect(paths()).toEqual(['tokens/generate', 'services/identity', 'services/identity']);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      apiKey: 'the-key',
      secretKey: 'the-secret',
    });
  });

  it.each([
    ['403 forbidden', FORBIDDEN],
    ['401 forbidden', { ...FORBIDDEN, status: 401 }],
    ['401 without a code', { status: 401, text: '' }],
  ])(
    'renews a token that is refused with %s by the refresh token, and repeats the inquiry',
    async (_how, refusal) => {
      const jibit = replying(({ headers }) => (headers.authorization === 'Bearer t1' ? refusal : record()));
      expect(await jibit.checkIdentity(ID, DAY, neverAborted())).toBe('matched');
      expect(paths()).toEqual([
        'tokens/generate',
        'services/identity',
        'tokens/refresh',
        'services/identity',
      ]);
      expect(JSON.parse(server.requests[2]?.body ?? '')).toEqual({ accessToken: 't1', refreshToken: 'r1' });
    },
  );

  it('generates a token with the credentials when the refresh token is refused too', async () => {
    let generated = 0;
    server.replyWith(({ path, headers }) => {
      if (path.endsWith('/refresh')) return { status: 400, json: { code: 'refreshToken.not_valid' } };
      if (!path.endsWith('/generate')) return headers.authorization === 'Bearer g1' ? FORBIDDEN : record();
      generated += 1;
      return { status: 200, json: { accessToken: `g${generated}`, refreshToken: 'r' } };
    });
    expect(await registry().checkIdentity(ID, DAY, neverAborted())).toBe('matched');
    expect(paths()).toEqual([
      'tokens/generate',
      'services/identity',
      'tokens/refresh',
      'tokens/generate',
      'services/identity',
    ]);
  });

  it('renews a token once per inquiry', async () => {
    const failure = await failureOf(replying(() => FORBIDDEN).checkIdentity(ID, DAY, neverAborted()));
    expect(summaryOf(failure)).toBe('credentials, not_sent, up');
    expect(paths()).toEqual(['tokens/generate', 'services/identity', 'tokens/refresh', 'services/identity']);
  });

  it('renews the token once for 50 concurrent inquiries with a refused token', async () => {
    const jibit = replying(({ headers }) => (headers.authorization === 'Bearer t1' ? FORBIDDEN : record()));
    await Promise.all(Array.from({ length: 50 }, () => jibit.checkIdentity(ID, DAY, neverAborted())));
    const tokenPaths = paths().filter((path) => path.startsWith('tokens'));
    expect(tokenPaths).toEqual(['tokens/generate', 'tokens/refresh']);
  });

  it('completes a token request for all waiting callers when the signal of the first one aborts', async () => {
    const tokenRequested = Promise.withResolvers<void>();
    const tokenReply = Promise.withResolvers<ScriptedReply>();
    server.replyWith(({ path }) => {
      if (!path.endsWith('/generate')) return record();
      tokenRequested.resolve();
      return tokenReply.promise;
    });
    const jibit = registry();
    const caller = new AbortController();
    const first = failureOf(jibit.checkIdentity(ID, DAY, caller.signal));
    await tokenRequested.promise;
    const second = jibit.checkIdentity(ID, DAY, neverAborted());
    caller.abort();
    expect((await first).reason).toBe('aborted');
    tokenReply.resolve({ status: 200, json: { accessToken: 't1', refreshToken: 'r1' } });
    expect(await second).toBe('matched');
    expect(paths()).toEqual(['tokens/generate', 'services/identity']);
  });

  it.each(['client.not_found', 'invalid.request_body'])(
    'takes %s of a token request for wrong credentials, and sends no inquiry',
    async (code) => {
      server.replyWith(() => ({ status: 404, json: { code } }));
      const failure = await failureOf(registry().checkIdentity(ID, DAY, neverAborted()));
      expect(summaryOf(failure)).toBe('credentials, not_sent, up');
      expect(paths()).toEqual(['tokens/generate']);
    },
  );

  it.each([
    [{ accessToken: '', refreshToken: 'r' }],
    [{ accessToken: 't' }],
    [{ accessToken: 't\r\nx: y', refreshToken: 'r' }],
    [{ accessToken: 't'.repeat(8193), refreshToken: 'r' }],
  ])('treats the token response %j as malformed', async (json) => {
    server.replyWith(() => ({ status: 200, json }));
    const failure = await failureOf(registry().checkIdentity(ID, DAY, neverAborted()));
    expect(failure.reason).toBe('malformed');
  });
});

describe('the request', () => {
  it('requests the record without the photo, with the day of birth without separators', async () => {
    await replying(() => record()).checkIdentity(ID, DAY, neverAborted());
    const { method, path, query, headers } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query), headers.authorization]).toEqual([
      'GET',
      '/ide/v1/services/identity',
      { nationalCode: ID, birthDate: '13700105', withoutPhoto: 'true', completeInfo: 'false' },
      'Bearer t1',
    ]);
  });

  it('requests the match of a phone in its local form', async () => {
    await replying(() => ({ status: 200, json: { matched: true } })).checkPhoneOwnership(
      ID,
      PHONE,
      neverAborted(),
    );
    const { method, path, query } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query)]).toEqual([
      'GET',
      '/ide/v1/services/matching',
      { nationalCode: ID, mobileNumber: '09990000001' },
    ]);
  });
});

/** Jibit's documented error codes: HTTP status, reason, and the number of inquiries sent. */
const CODES: readonly (readonly [string, number, UnavailableReason, number])[] = [
  ['nationalCode.not_valid', 400, 'rejected', 1],
  ['required_is.nationalCode', 400, 'rejected', 1],
  ['mobileNumber.not_valid', 400, 'rejected', 1],
  ['birthDate.not_valid', 400, 'rejected', 1],
  ['birthDate.is_required', 400, 'rejected', 1],
  ['query_parameters.not_provided', 400, 'rejected', 1],
  ['parameters.not_acceptable', 400, 'rejected', 1],
  ['invalid.request_body', 400, 'rejected', 1],
  ['invalid.argument', 400, 'rejected', 1],
  ['fida.is_required', 400, 'rejected', 1],
  ['fida.not_valid', 400, 'rejected', 1],
  ['fida.black_listed', 400, 'rejected', 1],
  ['matching.unknown', 400, 'undecided', 1],
  ['matching.unknown', 404, 'undecided', 1],
  ['daily_limit.reached', 429, 'quota', 1],
  ['balance.not_enough', 400, 'balance', 1],
  ['balance.not_enough', 402, 'balance', 1],
  ['providers.not_available', 503, 'upstream', 2],
  ['server.error', 500, 'upstream', 2],
  ['handler.not_found', 404, 'upstream', 2],
];

const identityFailure = (reply: ScriptedReply) =>
  failureOf(replying(() => reply).checkIdentity(ID, DAY, neverAborted()));

describe('an error', () => {
  itForAll(CODES)(
    'with a documented code is no verdict, with its reason, after one inquiry or two',
    async (code, status, reason, inquiries) => {
      const failure = await identityFailure({ status, json: { code, message: 'پیام' } });
      expect(summaryOf(failure)).toBe(`${reason}, not_sent, up`);
      expect(paths().filter((path) => path.startsWith('services'))).toHaveLength(inquiries);
    },
  );

  it('is also read in its older form', async () => {
    const json = { errors: [{ code: 'daily_limit.reached', message: '' }] };
    expect(summaryOf(await identityFailure({ status: 400, json }))).toBe('quota, not_sent, up');
  });

  it.each(['who.knows', 'constructor'])('with the unknown code %s is no verdict', async (code) => {
    const failure = await identityFailure({ status: 400, json: { code } });
    expect(summaryOf(failure)).toBe('no_verdict, possibly_sent, up');
  });
});

describe('the verdict', () => {
  it.each([
    [{ alive: true }, 'matched'],
    [{ alive: false }, 'deceased'],
  ])('of the record %j is %s', async (fields, verdict) => {
    expect(await replying(() => record(fields)).checkIdentity(ID, DAY, neverAborted())).toBe(verdict);
  });

  it('of identity_info.not_found is not_found', async () => {
    const jibit = replying(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    expect(await jibit.checkIdentity(ID, DAY, neverAborted())).toBe('not_found');
  });

  it('of identity_info.not_found with HTTP 500 is none: Jibit is down, whatever its body says', async () => {
    const failure = await identityFailure({ status: 500, json: { code: 'identity_info.not_found' } });
    expect(summaryOf(failure)).toBe('upstream, possibly_sent, up');
  });

  it('on a phone is never identity_info.not_found', async () => {
    const jibit = replying(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    await failureOf(jibit.checkPhoneOwnership(ID, PHONE, neverAborted()));
  });

  it.each([
    ['a record of another person', record({ nationalCode: '9990000029', alive: false })],
    ['a record that does not say whether the person is alive', record({ alive: undefined })],
    ['a record with HTTP 201', { ...record(), status: 201 }],
  ])('does not come from %s', async (_what, reply) => {
    expect(summaryOf(await identityFailure(reply))).toBe('no_verdict, possibly_sent, unknown');
  });
});
