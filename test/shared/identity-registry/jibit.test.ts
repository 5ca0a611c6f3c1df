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

/** A Jibit that gives out tokens `t1`, `t2`, … and answers inquiries as told. */
const jibitThat = (inquiry: (request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>) => {
  let tokens = 0;
  server.answer((request) => {
    if (!request.path.startsWith('/ide/v1/tokens/')) return inquiry(request);
    tokens += 1;
    return { status: 200, json: { accessToken: `t${tokens}`, refreshToken: `r${tokens}` } };
  });
  return registry();
};

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

const pathsOf = () => server.requests.map(({ path }) => path.replace('/ide/v1/', ''));
const record = (fields: object = {}) => ({
  status: 200,
  json: {
    nationalCode: ID,
    birthDate: '13700105',
    identityInfo: { nationalCode: ID, alive: true, ...fields },
  },
});

describe('what is sent', () => {
  it('asks for the record of a person without the photo, its day of birth without separators', async () => {
    await jibitThat(() => record()).checkIdentity(ID, DAY, noHurry());
    const { method, path, query, headers } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query), headers.authorization]).toEqual([
      'GET',
      '/ide/v1/services/identity',
      { nationalCode: ID, birthDate: '13700105', withoutPhoto: 'true', completeInfo: 'false' },
      'Bearer t1',
    ]);
  });

  it('asks for the match of a phone in its local form', async () => {
    await jibitThat(() => ({ status: 200, json: { matched: true } })).checkPhoneOwnership(
      ID,
      PHONE,
      noHurry(),
    );
    const { method, path, query } = server.requests[1] as ReceivedRequest;
    expect([method, path, Object.fromEntries(query)]).toEqual([
      'GET',
      '/ide/v1/services/matching',
      { nationalCode: ID, mobileNumber: '09990000001' },
    ]);
  });

  it('gets its token with both halves of the credentials, and once for all inquiries', async () => {
    const jibit = jibitThat(() => record());
    await jibit.checkIdentity(ID, DAY, noHurry());
    await jibit.checkIdentity(ID, DAY, noHurry());
    expect(pathsOf()).toEqual(['tokens/generate', 'services/identity', 'services/identity']);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      apiKey: 'the-key',
      secretKey: 'the-secret',
    });
  });
});

/** Jibit's documented codes: the HTTP status, what it stands for, and how often the inquiry is made. */
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

const OPERATIONS = ['checkIdentity', 'checkPhoneOwnership'] as const;

const askOf = (jibit: ReturnType<typeof registry>, operation: (typeof OPERATIONS)[number]) =>
  ({
    checkIdentity: () => jibit.checkIdentity(ID, DAY, noHurry()),
    checkPhoneOwnership: () => jibit.checkPhoneOwnership(ID, PHONE, noHurry()),
  })[operation]();

describe.each(OPERATIONS)('%s', (operation) => {
  it.each(CODES)(
    'takes %s (HTTP %i) as %s, asking %i time(s), and never as a verdict',
    async (code, status, reason, asked) => {
      const jibit = jibitThat(() => ({ status, json: { code, message: 'پیام' } }));
      expect(gistOf(await failureOf(askOf(jibit, operation)))).toEqual({ reason, refused: true });
      expect(pathsOf().filter((path) => path.startsWith('services'))).toHaveLength(asked);
    },
  );

  it('reads the older form of a refusal too', async () => {
    const jibit = jibitThat(() => ({
      status: 400,
      json: { errors: [{ code: 'daily_limit.reached', message: '' }] },
    }));
    expect((await failureOf(askOf(jibit, operation))).reason).toBe('quota');
  });

  it.each([
    ['an unknown code', { status: 400, json: { code: 'who.knows' } }, 'malformed'],
    ['the name of something every object has', { status: 400, json: { code: 'constructor' } }, 'malformed'],
    ['a bare 503', { status: 503, text: '' }, 'upstream'],
    ['a 502 of a box on the way', { status: 502, text: '<html>' }, 'upstream'],
    ['a bare 403 of a box on the way', { status: 403, text: '<html>' }, 'blocked'],
    ['a bare 429', { status: 429, text: '' }, 'quota'],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['half of a JSON', { status: 200, text: '{"matched":tr' }, 'malformed'],
    ['an empty body', { status: 200, text: '' }, 'malformed'],
    ['null', { status: 200, json: null }, 'malformed'],
    ['a list', { status: 200, json: [{ matched: true }] }, 'malformed'],
    ['nothing of what was asked', { status: 200, json: {} }, 'malformed'],
    [
      'a text where a boolean belongs',
      { status: 200, json: { matched: 'true', identityInfo: { alive: 'true' } } },
      'malformed',
    ],
    [
      'a number where a boolean belongs',
      { status: 200, json: { matched: 0, identityInfo: { alive: 1 } } },
      'malformed',
    ],
    [
      'null where a boolean belongs',
      { status: 200, json: { matched: null, identityInfo: { alive: null } } },
      'malformed',
    ],
    ['an error inside a 200', { status: 200, json: { code: 'server.error' } }, 'malformed'],
    ['"not found" inside a 200', { status: 200, json: { code: 'identity_info.not_found' } }, 'malformed'],
    [
      'a right body with 201',
      { status: 201, json: { matched: false, identityInfo: { alive: false } } },
      'malformed',
    ],
    [
      'a right body with 500',
      { status: 500, json: { matched: false, identityInfo: { alive: false } } },
      'upstream',
    ],
  ] as const)('takes %s for no verdict', async (_what, reply, reason) => {
    expect(
      gistOf(
        await failureOf(
          askOf(
            jibitThat(() => reply),
            operation,
          ),
        ),
      ),
    ).toEqual({ reason, refused: false });
  });
});

describe('verdicts', () => {
  it.each([
    [{ alive: true }, 'matched'],
    [{ alive: false }, 'deceased'],
  ])('takes the record %j as %s', async (fields, verdict) => {
    expect(await jibitThat(() => record(fields)).checkIdentity(ID, DAY, noHurry())).toBe(verdict);
  });

  it('takes identity_info.not_found as nobody', async () => {
    const jibit = jibitThat(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    expect(await jibit.checkIdentity(ID, DAY, noHurry())).toBe('not_found');
  });

  it('does not take it as another’s phone: that is not what was asked', async () => {
    const jibit = jibitThat(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    await failureOf(jibit.checkPhoneOwnership(ID, PHONE, noHurry()));
  });

  it('does not believe the record of another person', async () => {
    const jibit = jibitThat(() => record({ nationalCode: '9990000029', alive: false }));
    expect((await failureOf(jibit.checkIdentity(ID, DAY, noHurry()))).reason).toBe('malformed');
  });
});

const FORBIDDEN = { status: 403, json: { code: 'forbidden', message: '' } };

describe('access tokens', () => {
  it.each([
    ['403 forbidden', FORBIDDEN],
    ['401 forbidden', { ...FORBIDDEN, status: 401 }],
    ['a bare 401', { status: 401, text: '' }],
  ])(
    'are renewed by the refresh token when one is refused with %s, and the inquiry is made once more',
    async (_how, refusal) => {
      const jibit = jibitThat(({ headers }) => (headers.authorization === 'Bearer t1' ? refusal : record()));
      expect(await jibit.checkIdentity(ID, DAY, noHurry())).toBe('matched');
      expect(pathsOf()).toEqual([
        'tokens/generate',
        'services/identity',
        'tokens/refresh',
        'services/identity',
      ]);
      expect(JSON.parse(server.requests[2]?.body ?? '')).toEqual({ accessToken: 't1', refreshToken: 'r1' });
    },
  );

  it('are got afresh when the refresh token is refused too', async () => {
    let generated = 0;
    server.answer(({ path, headers }) => {
      if (path.endsWith('/refresh')) return { status: 400, json: { code: 'refreshToken.not_valid' } };
      if (!path.endsWith('/generate')) return headers.authorization === 'Bearer g1' ? FORBIDDEN : record();
      generated += 1;
      return { status: 200, json: { accessToken: `g${generated}`, refreshToken: 'r' } };
    });
    expect(await registry().checkIdentity(ID, DAY, noHurry())).toBe('matched');
    expect(pathsOf()).toEqual([
      'tokens/generate',
      'services/identity',
      'tokens/refresh',
      'tokens/generate',
      'services/identity',
    ]);
  });

  it('are renewed once for an inquiry, not for ever', async () => {
    const failure = await failureOf(jibitThat(() => FORBIDDEN).checkIdentity(ID, DAY, noHurry()));
    expect(gistOf(failure)).toEqual({ reason: 'credentials', refused: true });
    expect(pathsOf()).toEqual([
      'tokens/generate',
      'services/identity',
      'tokens/refresh',
      'services/identity',
    ]);
  });

  it('are got once by 50 who begin at the same time', async () => {
    const jibit = jibitThat(() => record());
    await Promise.all(Array.from({ length: 50 }, () => jibit.checkIdentity(ID, DAY, noHurry())));
    expect(pathsOf().filter((path) => path.startsWith('tokens'))).toEqual(['tokens/generate']);
  });

  it('are renewed once for 50 whose token ends at the same time', async () => {
    const jibit = jibitThat(({ headers }) => (headers.authorization === 'Bearer t1' ? FORBIDDEN : record()));
    await Promise.all(Array.from({ length: 50 }, () => jibit.checkIdentity(ID, DAY, noHurry())));
    expect(pathsOf().filter((path) => path.startsWith('tokens'))).toEqual([
      'tokens/generate',
      'tokens/refresh',
    ]);
  });

  it('are got for all though the one who began leaves', async () => {
    const tokenAsked = Promise.withResolvers<void>();
    const giveToken = Promise.withResolvers<ScriptedReply>();
    server.answer(({ path }) => {
      if (!path.endsWith('/generate')) return record();
      tokenAsked.resolve();
      return giveToken.promise;
    });
    const jibit = registry();
    const leaving = new AbortController();
    const first = failureOf(jibit.checkIdentity(ID, DAY, leaving.signal));
    await tokenAsked.promise;
    const second = jibit.checkIdentity(ID, DAY, noHurry());
    leaving.abort();
    expect((await first).reason).toBe('aborted');
    giveToken.resolve({ status: 200, json: { accessToken: 't1', refreshToken: 'r1' } });
    expect(await second).toBe('matched');
    expect(pathsOf()).toEqual(['tokens/generate', 'services/identity']);
  });

  it.each([
    ['invalid.credentials', 400, 'credentials'],
    ['client.not_found', 404, 'credentials'],
    ['apiKey.is_required', 400, 'credentials'],
    ['apiKey.length_exceeded', 400, 'credentials'],
    ['secretKey.is_required', 400, 'credentials'],
    ['secretKey.length_exceeded', 400, 'credentials'],
    ['invalid.request_body', 400, 'credentials'],
    ['server.error', 500, 'upstream'],
  ] as const)('are not to be had at %s (HTTP %i): %s', async (code, status, reason) => {
    server.answer(() => ({ status, json: { code } }));
    expect((await failureOf(registry().checkIdentity(ID, DAY, noHurry()))).reason).toBe(reason);
    expect(pathsOf()).not.toContain('services/identity');
  });

  it.each([
    [{ status: 200, json: { accessToken: '', refreshToken: 'r' } }, 'malformed'],
    [{ status: 200, json: { accessToken: 't' } }, 'malformed'],
    [{ status: 200, text: '<html>' }, 'malformed'],
    [{ status: 503, text: '' }, 'upstream'],
  ] as const)('are not believed in the form %j', async (reply, reason) => {
    server.answer(() => reply);
    expect((await failureOf(registry().checkIdentity(ID, DAY, noHurry()))).reason).toBe(reason);
  });
});
