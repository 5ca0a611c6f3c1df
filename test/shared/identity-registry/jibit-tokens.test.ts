import { failureOf, neverAborted, summaryOf } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import type { ScriptedReply } from '#test/shared/providers/scripted-server.ts';
import { DAY, ID, record, scriptedJibit } from './scripted-jibit.ts';

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
