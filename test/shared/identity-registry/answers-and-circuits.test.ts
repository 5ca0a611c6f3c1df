import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type ScriptedReply, scriptedServer } from '#test/shared/providers/scripted-server.ts';

/** What a registry answers about one person. One seller could inquire about that person all the time. */
const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});
const server = scriptedServer();

const DAY = { year: 1370, month: 1, day: 5 };
const ODD_PERSON = '9990000010';
const OTHER_PERSON = '9990000029';
/** More than the failures that open a circuit. */
const INQUIRIES = 20;

const zohal = (data: object) => ({ status: 200, json: { result: 1, response_body: { data } } });
const MATCHED = {
  jibit: { status: 200, json: { identityInfo: { alive: true } } },
  zohal: zohal({ matched: true, alive: true }),
};

/** Returns a registry that answers `reply` about the odd person, and that every other person matches. */
const registryOf = (names: readonly ('jibit' | 'zohal')[], reply: ScriptedReply) => {
  server.replyWith(({ path, query, body }) => {
    if (path.includes('/tokens/')) return { status: 200, json: { accessToken: 't', refreshToken: 'r' } };
    const provider = path.startsWith('/jibit') ? 'jibit' : 'zohal';
    const isOdd = provider === names[0] && `${query}${body}`.includes(ODD_PERSON);
    return isOdd ? reply : MATCHED[provider];
  });
  const secret = {
    jibit: { api_key: 'k', secret_key: 's', base_url: `${server.baseUrl}/jibit` },
    zohal: { token: 't', base_url: `${server.baseUrl}/zohal` },
  };
  const registry = identityRegistryFrom(names, fixedSecret(JSON.stringify(secret)), {
    retryPauseMs: () => 0,
  });
  return (nationalId: string) => registry.checkIdentity(nationalId, DAY, neverAborted());
};

const failures = () =>
  lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'provider_failed');

describe('JSON that is no verdict on a person', () => {
  it.each([
    ['zohal', 'that does not say whether the person is alive', zohal({ matched: true })],
    ['zohal', 'with an unknown result', { status: 200, json: { result: 7 } }],
    ['zohal', 'with HTTP 400', { status: 400, json: { message: 'نامعتبر' } }],
    ['jibit', 'with an unlisted code', { status: 400, json: { code: 'who.knows' } }],
    ['jibit', 'with an error code and HTTP 200', { status: 200, json: { code: 'server.error' } }],
    ['jibit', 'that does not say whether the person is alive', { status: 200, json: { identityInfo: {} } }],
  ] as const)(
    'from %s, %s, never opens the circuit for others, and each is logged as a failure of the provider',
    async (provider, _what, reply) => {
      const check = registryOf([provider], reply);
      for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) {
        expect((await failureOf(check(ODD_PERSON))).reason).toBe('no_verdict');
      }
      expect(await check(OTHER_PERSON)).toBe('matched');
      const expected = {
        provider,
        provider_operation: 'identity',
        reason: 'unreadable',
        ProviderFailures: 1,
      };
      expect(failures()).toEqual(Array(INQUIRIES).fill(expect.objectContaining(expected)));
    },
  );

  it.each(['jibit', 'zohal'] as const)('from %s sends the inquiry to the next registry', async (first) => {
    const second = first === 'jibit' ? 'zohal' : 'jibit';
    const check = registryOf([first, second], { status: 400, json: { code: 'who.knows' } });
    expect(await check(ODD_PERSON)).toBe('matched');
  });
});

describe('an error in the documented form', () => {
  const zohalError = (result: number, error_code: string | null) => ({
    result,
    response_body: { error_code },
  });

  it.each([
    ['jibit', 'balance', { status: 400, json: { code: 'balance.not_enough' } }],
    ['jibit', 'balance', { status: 400, json: { errors: [{ code: 'balance.not_enough' }] } }],
    ['jibit', 'quota', { status: 429, json: { code: 'daily_limit.reached' } }],
    ['jibit', 'upstream', { status: 503, json: { code: 'providers.not_available' } }],
    ['jibit', 'upstream', { status: 500, json: { code: 'who.knows' } }],
    ['jibit', 'undecided', { status: 400, json: { code: 'matching.unknown' } }],
    ['zohal', 'upstream', { status: 200, json: zohalError(5, 'internal_error') }],
    ['zohal', 'upstream', { status: 503, json: zohalError(6, 'service_unavailable') }],
    ['zohal', 'upstream', { status: 500, json: zohalError(7, 'who_knows') }],
    ['zohal', 'credentials', { status: 401, json: zohalError(4, 'invalid_token') }],
    ['zohal', 'rejected', { status: 400, json: zohalError(4, null) }],
  ] as const)('from %s, %s, never opens the circuit for others: %j', async (provider, reason, reply) => {
    const check = registryOf([provider], reply);
    for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) {
      expect((await failureOf(check(ODD_PERSON))).reason).toBe(reason);
    }
    expect(await check(OTHER_PERSON)).toBe('matched');
    expect(failures().filter((failed) => failed.reason === 'circuit_open')).toEqual([]);
  });
});

describe('JSON in no documented form with a status below 500', () => {
  it.each([401, 403, 429])('never opens the circuit for others: HTTP %i', async (status) => {
    const check = registryOf(['zohal'], { status, json: {} });
    for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) await failureOf(check(ODD_PERSON));
    expect(await check(OTHER_PERSON)).toBe('matched');
  });
});

describe('an answer that says that the registry is down', () => {
  it.each([
    ['a body that is not JSON', { status: 200, text: '<html>' }],
    ['a truncated body', { status: 200, text: '{"matched":tr' }],
    ['a body that is too large', { status: 200, json: 'x'.repeat(64 * 1024) }],
    ['HTTP 400 with a body that is not JSON', { status: 400, text: '<html>' }],
    ['HTTP 403 with a body that is not JSON', { status: 403, text: '<html>' }],
    ['HTTP 500 with JSON in no documented form', { status: 500, json: {} }],
    ['HTTP 503 with JSON in no documented form', { status: 503, json: { message: 'unavailable' } }],
  ])('opens the circuit: %s', async (_what, reply) => {
    const check = registryOf(['zohal'], reply);
    for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) await failureOf(check(ODD_PERSON));
    expect((await failureOf(check(OTHER_PERSON))).reason).toBe('circuit_open');
  });
});
