import { type AccountState, checkProviders } from '#admin/operations/check-providers.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type ScriptedReply, scriptedServer } from '#test/shared/providers/scripted-server.ts';
import type { Fault } from '#test/simulators/faults.ts';
import { PROVIDER_NAMES, type Simulators, startSimulators } from '#test/simulators/server.ts';

type Name = (typeof PROVIDER_NAMES)[number];

let simulators: Simulators;
beforeEach(async () => {
  simulators = await startSimulators(fakeClock('2026-11-21T23:30:00Z'));
});
afterEach(() => simulators.close());

const checkAt = async (name: Name, section: unknown): Promise<AccountState> => {
  const [state] = await checkProviders([name], { [name]: section });
  return state as AccountState;
};

describe('the check of the simulated providers', () => {
  it('returns the balance of each that can be asked, in the order of the stage', async () => {
    expect(
      await checkProviders(['zohal', 'jibit', 'kavenegar', 'sms-ir'], simulators.providerSecret),
    ).toEqual([
      {
        provider: 'zohal',
        state: 'not_checked',
        answer: null,
        action:
          'No public source shows a call of this provider that names nobody. Look at its panel: token, allowed addresses, balance.',
      },
      { provider: 'jibit', state: 'ok', answer: '12,500,000 IRR', action: null },
      { provider: 'kavenegar', state: 'ok', answer: '1,500,000 IRR', action: null },
      { provider: 'sms-ir', state: 'ok', answer: '8,500 messages', action: null },
    ]);
  });

  it('makes no inquiry and sends no message', async () => {
    await checkProviders(PROVIDER_NAMES, simulators.providerSecret);
    expect(simulators.calls()).toEqual({
      jibit: { token: 1, balances: 1 },
      zohal: {},
      kavenegar: { account: 1 },
      'sms-ir': { credit: 1 },
    });
  });

  it.each<[Name, Fault, AccountState['state'], string, string]>([
    ['jibit', 'unauthorized', 'refused', 'code invalid.credentials, credentials', 'providers set jibit.'],
    ['jibit', 'balance', 'refused', 'code balance.not_enough, balance', 'Top up'],
    ['jibit', 'quota', 'refused', 'code daily_limit.reached, quota', 'raise the contract'],
    ['jibit', 'blocked_address', 'refused', 'blocked', 'refuses this address'],
    ['jibit', 'upstream_down', 'refused', 'code providers.not_available, upstream', 'status page'],
    ['kavenegar', 'unauthorized', 'refused', 'code 403, credentials', 'providers set kavenegar.'],
    ['kavenegar', 'blocked_address', 'refused', 'code 416, blocked', 'refuses this address'],
    ['kavenegar', 'balance', 'refused', 'code 418, balance', 'Top up'],
    ['sms-ir', 'unauthorized', 'refused', 'code 10, credentials', 'providers set sms-ir.'],
    ['sms-ir', 'blocked_address', 'refused', 'code 12, blocked', 'refuses this address'],
    ['sms-ir', 'error_in_200', 'refused', 'code 102, balance', 'Top up'],
    ['sms-ir', 'server_error', 'refused', 'code 0, upstream', 'status page'],
    ['jibit', 'html_instead_of_json', 'unreadable', 'malformed', 'Ask the provider'],
    ['kavenegar', 'html_instead_of_json', 'unreadable', 'malformed', 'Ask the provider'],
    ['sms-ir', 'wrong_types', 'unreadable', 'no_verdict', 'Ask the provider'],
    ['sms-ir', 'connection_refused', 'no_answer', 'transport, ECONNREFUSED', 'Can this machine reach it'],
    ['kavenegar', 'reset', 'no_answer', 'transport, ECONNRESET', 'Can this machine reach it'],
  ])('of %s with the fault %s is %s: %s', async (name, fault, state, answer, action) => {
    await simulators.setFault(name, fault);
    expect(await checkAt(name, simulators.providerSecret[name])).toEqual({
      provider: name,
      state,
      answer,
      action: expect.stringContaining(action),
    });
  });

  it.each<[string, Name, unknown, string]>([
    ['is missing', 'jibit', undefined, 'the provider secret has no section "jibit"'],
    [
      'lacks a field',
      'jibit',
      { api_key: 'sesame' },
      'missing or wrong in the provider secret: jibit.secret_key',
    ],
    ['lacks a field', 'zohal', {}, 'missing or wrong in the provider secret: zohal.token'],
  ])('names what is wrong and calls nobody if a section %s (%s)', async (_what, name, section, answer) => {
    expect(await checkAt(name, section)).toEqual({
      provider: name,
      state: 'misconfigured',
      answer,
      action: `Write the credentials: providers set ${name}.`,
    });
    expect(simulators.calls()[name]).toEqual({});
  });

  it('throws for a provider that does not exist', () => {
    expect(() => checkProviders(['acme'], {})).toThrow('unknown provider "acme"');
  });
});

describe('the check of a scripted provider', () => {
  const server = scriptedServer();

  /** Answers `reply`, and a token to a request for one. */
  const check = (name: Name, reply: ScriptedReply) => {
    server.replyWith(({ path }) =>
      path.includes('/tokens/') ? { status: 200, json: { accessToken: 't', refreshToken: 'r' } } : reply,
    );
    const account = { api_key: 'a/key', secret_key: 's', template: 't', template_id: 1 };
    return checkAt(name, { ...account, base_url: server.baseUrl });
  };
  const balanceOf = (balanceType: string, amount: number) => ({ balanceType, amount, currency: 'IRR' });

  it.each<[Name, string, unknown]>([
    ['jibit', '0 IRR', { balances: [balanceOf('WALLET', 0)] }],
    ['kavenegar', '-120 IRR', { return: { status: 200 }, entries: { remaincredit: -120 } }],
    ['sms-ir', '0 messages', { status: 1, data: 0 }],
  ])('of %s is no_credit at %s', async (name, answer, json) => {
    expect(await check(name, { status: 200, json })).toEqual({
      provider: name,
      state: 'no_credit',
      answer,
      action: 'Top up the account.',
    });
  });

  it('shows all balances of an account, and is ok if one of them is left', async () => {
    const balances = [balanceOf('GIFT', 0), balanceOf('WALLET', 1)];
    expect(await check('jibit', { status: 200, json: { balances } })).toMatchObject({
      state: 'ok',
      answer: '0 IRR GIFT, 1 IRR WALLET',
    });
  });

  it.each<[Name, readonly (readonly [string, string, string | undefined])[]]>([
    [
      'jibit',
      [
        ['POST', '/v1/tokens/generate', undefined],
        ['GET', '/v1/balances', 'Bearer t'],
      ],
    ],
    ['kavenegar', [['GET', '/v1/a%2Fkey/account/info.json', undefined]]],
    ['sms-ir', [['GET', '/v1/credit', 'a/key']]],
  ])('sends the credentials of %s as its adapter does', async (name, requests) => {
    await check(name, { status: 200, json: {} });
    const sent = server.requests.map(({ method, path, headers }) => [
      method,
      path,
      headers.authorization ?? headers['x-api-key'],
    ]);
    expect(sent).toEqual(requests);
  });

  it.each<[Name, ScriptedReply, string]>([
    ['jibit', { status: 400, json: { code: '\u001b[31mred' } }, 'no_verdict'],
    ['jibit', { status: 200, json: { balances: [balanceOf('\u001b[31m', 1)] } }, 'no_verdict'],
    ['jibit', { status: 400, json: { code: 'who.knows' } }, 'code who.knows, no_verdict'],
    ['jibit', { status: 200, json: { balances: [] } }, 'no_verdict'],
  ])(
    'of %s is unreadable in no documented form, and shows no control characters (case %#)',
    async (name, reply, answer) => {
      expect(await check(name, reply)).toMatchObject({ state: 'unreadable', answer });
    },
  );
});
