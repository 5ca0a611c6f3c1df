import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import { itForAll } from '#test/for-all.ts';
import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import type { ReceivedRequest, ScriptedReply } from '#test/shared/providers/scripted-server.ts';
import { DAY, ID, PHONE, record, scriptedJibit } from './scripted-jibit.ts';

quietLog();
const { server, registry, replying, paths } = scriptedJibit();

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
    expect(summaryOf(failure)).toEqual({ reason: 'credentials', delivery: 'not_sent' });
    expect(paths()).toEqual(['tokens/generate', 'services/identity', 'tokens/refresh', 'services/identity']);
  });

  const tokenPaths = () => paths().filter((path) => path.startsWith('tokens'));

  it('generates one token for 50 concurrent inquiries', async () => {
    const jibit = replying(() => record());
    await Promise.all(Array.from({ length: 50 }, () => jibit.checkIdentity(ID, DAY, neverAborted())));
    expect(tokenPaths()).toEqual(['tokens/generate']);
  });

  it('renews the token once for 50 concurrent inquiries with a refused token', async () => {
    const jibit = replying(({ headers }) => (headers.authorization === 'Bearer t1' ? FORBIDDEN : record()));
    await Promise.all(Array.from({ length: 50 }, () => jibit.checkIdentity(ID, DAY, neverAborted())));
    expect(tokenPaths()).toEqual(['tokens/generate', 'tokens/refresh']);
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

  it('requests a token again after a failed token request', async () => {
    server.replyWith(() => ({ status: 400, json: { code: 'invalid.credentials' } }));
    const jibit = registry();
    await failureOf(jibit.checkIdentity(ID, DAY, neverAborted()));
    server.replyWith(({ path }) =>
      path.endsWith('/generate')
        ? { status: 200, json: { accessToken: 't1', refreshToken: 'r1' } }
        : record(),
    );
    expect(await jibit.checkIdentity(ID, DAY, neverAborted())).toBe('matched');
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
    ['providers.not_available', 503, 'upstream'],
  ] as const)(
    'treats %s (HTTP %i) of a token request as %s, and sends no inquiry',
    async (code, status, reason) => {
      server.replyWith(() => ({ status, json: { code } }));
      expect((await failureOf(registry().checkIdentity(ID, DAY, neverAborted()))).reason).toBe(reason);
      expect(paths()).not.toContain('services/identity');
    },
  );

  it.each([
    [{ status: 200, json: { accessToken: '', refreshToken: 'r' } }, 'malformed'],
    [{ status: 200, json: { accessToken: 't' } }, 'malformed'],
    [{ status: 200, json: { accessToken: 't\r\nx: y', refreshToken: 'r' } }, 'malformed'],
    [{ status: 200, json: { accessToken: 't'.repeat(8193), refreshToken: 'r' } }, 'malformed'],
    [{ status: 200, text: '<html>' }, 'malformed'],
    [{ status: 503, text: '' }, 'upstream'],
  ] as const)('treats the token response %j as %s', async (reply, reason) => {
    server.replyWith(() => reply);
    expect((await failureOf(registry().checkIdentity(ID, DAY, neverAborted()))).reason).toBe(reason);
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

const OPERATIONS = ['checkIdentity', 'checkPhoneOwnership'] as const;

const inquire = (jibit: ReturnType<typeof replying>, operation: (typeof OPERATIONS)[number]) =>
  ({
    checkIdentity: () => jibit.checkIdentity(ID, DAY, neverAborted()),
    checkPhoneOwnership: () => jibit.checkPhoneOwnership(ID, PHONE, neverAborted()),
  })[operation]();

describe.each(OPERATIONS)('%s', (operation) => {
  itForAll(CODES)(
    'returns no verdict for a documented error code, with its reason, after one inquiry or two',
    async (code, status, reason, inquiries) => {
      const jibit = replying(() => ({ status, json: { code, message: 'پیام' } }));
      expect(summaryOf(await failureOf(inquire(jibit, operation)))).toEqual({ reason, delivery: 'not_sent' });
      expect(paths().filter((path) => path.startsWith('services'))).toHaveLength(inquiries);
    },
  );

  it('reads the older form of an error', async () => {
    const jibit = replying(() => ({
      status: 400,
      json: { errors: [{ code: 'daily_limit.reached', message: '' }] },
    }));
    expect((await failureOf(inquire(jibit, operation))).reason).toBe('quota');
  });

  itForAll([
    ['an unknown code', { status: 400, json: { code: 'who.knows' } }, 'no_verdict'],
    [
      'a code that is a property of every object',
      { status: 400, json: { code: 'constructor' } },
      'no_verdict',
    ],
    ['403 with HTML', { status: 403, text: '<html>' }, 'blocked'],
    ['HTML with 200', { status: 200, text: '<html>' }, 'malformed'],
    ['null', { status: 200, json: null }, 'no_verdict'],
    ['a list', { status: 200, json: [{ matched: true }] }, 'no_verdict'],
    ['an empty object', { status: 200, json: {} }, 'no_verdict'],
    [
      'a string instead of a boolean',
      { status: 200, json: { matched: 'true', identityInfo: { alive: 'true' } } },
      'no_verdict',
    ],
    [
      'a number instead of a boolean',
      { status: 200, json: { matched: 0, identityInfo: { alive: 1 } } },
      'no_verdict',
    ],
    [
      'null instead of a boolean',
      { status: 200, json: { matched: null, identityInfo: { alive: null } } },
      'no_verdict',
    ],
    ['an error code with 200', { status: 200, json: { code: 'server.error' } }, 'no_verdict'],
    [
      'identity_info.not_found with 200',
      { status: 200, json: { code: 'identity_info.not_found' } },
      'no_verdict',
    ],
    [
      'a valid body with 201',
      { status: 201, json: { matched: false, identityInfo: { alive: false } } },
      'no_verdict',
    ],
    [
      'a valid body with 500',
      { status: 500, json: { matched: false, identityInfo: { alive: false } } },
      'upstream',
    ],
  ] as const)('returns no verdict for any other response', async (_what, reply, reason) => {
    expect(
      summaryOf(
        await failureOf(
          inquire(
            replying(() => reply),
            operation,
          ),
        ),
      ),
    ).toEqual({ reason, delivery: 'possibly_sent' });
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

  it.each([500, 502, 503])(
    'of identity_info.not_found with HTTP %i is none: Jibit is down, whatever its body says',
    async (status) => {
      const jibit = replying(() => ({ status, json: { code: 'identity_info.not_found' } }));
      const failure = await failureOf(jibit.checkIdentity(ID, DAY, neverAborted()));
      expect(summaryOf(failure)).toEqual({ reason: 'upstream', delivery: 'possibly_sent' });
    },
  );

  it('on a phone is never identity_info.not_found', async () => {
    const jibit = replying(() => ({ status: 404, json: { code: 'identity_info.not_found' } }));
    await failureOf(jibit.checkPhoneOwnership(ID, PHONE, neverAborted()));
  });

  it('does not come from the record of another person', async () => {
    const jibit = replying(() => record({ nationalCode: '9990000029', alive: false }));
    expect((await failureOf(jibit.checkIdentity(ID, DAY, neverAborted()))).reason).toBe('no_verdict');
  });
});
