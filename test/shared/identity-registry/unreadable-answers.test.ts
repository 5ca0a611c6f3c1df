import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type ScriptedReply, scriptedServer } from '#test/shared/providers/scripted-server.ts';

/** The answers about one person cannot be read. One seller could inquire about that person all the time. */
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

const eventsOf = (name: string) =>
  lines.map((line) => JSON.parse(line)).filter(({ event }) => event === name);

describe('JSON that is no verdict on a person', () => {
  it.each([
    ['zohal', 'that does not say whether the person is alive', zohal({ matched: true })],
    ['zohal', 'with an unknown result', { status: 200, json: { result: 7 } }],
    ['zohal', 'with HTTP 400', { status: 400, json: { message: 'نامعتبر' } }],
    ['jibit', 'with an unlisted code', { status: 400, json: { code: 'who.knows' } }],
    ['jibit', 'that does not say whether the person is alive', { status: 200, json: { identityInfo: {} } }],
  ] as const)(
    'from %s, %s, never opens the circuit for others, and is counted by a metric of its own',
    async (provider, _what, reply) => {
      const check = registryOf([provider], reply);
      for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) {
        expect((await failureOf(check(ODD_PERSON))).reason).toBe('no_verdict');
      }
      expect(await check(OTHER_PERSON)).toBe('matched');
      expect(eventsOf('circuit_changed')).toEqual([]);
      const unreadable = eventsOf('provider_response_unreadable');
      expect(unreadable).toHaveLength(INQUIRIES);
      expect(unreadable[0]).toMatchObject({
        provider,
        provider_operation: 'identity',
        UnreadableResponses: 1,
      });
    },
  );

  it.each(['jibit', 'zohal'] as const)('from %s sends the inquiry to the next registry', async (first) => {
    const second = first === 'jibit' ? 'zohal' : 'jibit';
    const check = registryOf([first, second], { status: 400, json: { code: 'who.knows' } });
    expect(await check(ODD_PERSON)).toBe('matched');
  });
});

describe('an answer that says something about the registry', () => {
  it.each([
    ['a body that is not JSON', { status: 200, text: '<html>' }],
    ['a truncated body', { status: 200, text: '{"matched":tr' }],
    ['a body that is too large', { status: 200, json: 'x'.repeat(64 * 1024) }],
    ['HTTP 500 with JSON', { status: 500, json: {} }],
    ['HTTP 401 with JSON', { status: 401, json: {} }],
    ['HTTP 403 with JSON', { status: 403, json: {} }],
    ['HTTP 429 with JSON', { status: 429, json: {} }],
  ])('opens the circuit: %s', async (_what, reply) => {
    const check = registryOf(['zohal'], reply);
    for (let inquiry = 0; inquiry < INQUIRIES; inquiry += 1) await failureOf(check(ODD_PERSON));
    expect((await failureOf(check(OTHER_PERSON))).reason).toBe('circuit_open');
    expect(eventsOf('provider_response_unreadable')).toEqual([]);
  });
});
