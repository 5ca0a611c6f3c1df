/** Asks providers about the account of a stage, without naming a person. Sources of the calls: docs/operators/adding-a-provider.md. */
import * as v from 'valibot';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { jibitCredentials, jibitInquiries, parseJibit } from '#shared/identity-registry/jibit.ts';
import { exchange } from '#shared/providers/exchange.ts';
import { type CredentialsSchema, providersNamed } from '#shared/providers/provider.ts';
import { type ProviderReply, unreadableReply } from '#shared/providers/reply.ts';
import { type CallSite, ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { assertKavenegarSucceeded, kavenegarCredentials } from '#shared/sms/kavenegar.ts';
import { assertSmsIrSucceeded, smsIrCredentials } from '#shared/sms/sms-ir.ts';

/** What a provider says about the account. */
export interface AccountState {
  readonly provider: string;
  /** `not_checked`: no public source shows a call of this provider that names nobody. */
  readonly state:
    | 'ok'
    | 'no_credit'
    | 'refused'
    | 'no_answer'
    | 'unreadable'
    | 'misconfigured'
    | 'not_checked';
  /** The balance, or why the provider refuses. */
  readonly answer: string | null;
  /** What to do. */
  readonly action: string | null;
}

/** In the provider's unit: rials, or messages. */
interface Balance {
  readonly amount: number;
  readonly unit: string;
}

type AskBalances = (section: unknown, signal: AbortSignal) => Promise<readonly Balance[]>;

const TIMEOUT_MS = 10_000;

const siteOf = (provider: string): CallSite => ({ provider, operation: 'account' });

const account =
  <Schema extends CredentialsSchema>(
    credentials: Schema,
    ask: (credentials: v.InferOutput<Schema>, signal: AbortSignal) => Promise<readonly Balance[]>,
  ): AskBalances =>
  (section, signal) =>
    ask(v.parse(credentials, section), signal);

const fieldsOf = <Schema extends v.GenericSchema>(
  site: CallSite,
  schema: Schema,
  reply: ProviderReply,
): v.InferOutput<Schema> => {
  const result = v.safeParse(schema, reply.json);
  if (result.success) return result.output;
  throw unreadableReply(site, reply);
};

/** Text from outside, on its way to a terminal. */
const word = v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/));

const ACCOUNTS: Readonly<Record<string, AskBalances>> = {
  jibit: account(jibitCredentials, async (credentials, signal) => {
    const site = siteOf('jibit');
    const balance = v.object({ balanceType: word, amount: v.number(), currency: word });
    const reply = await jibitInquiries(credentials)(site, '/v1/balances', signal);
    const schema = v.object({ balances: v.pipe(v.array(balance), v.minLength(1)) });
    const { balances } = parseJibit(site, schema, reply);
    return balances.map(({ amount, currency, balanceType }) => ({
      amount,
      unit: balances.length === 1 ? currency : `${currency} ${balanceType}`,
    }));
  }),
  kavenegar: account(kavenegarCredentials, async ({ api_key: apiKey, base_url: base }, signal) => {
    const site = siteOf('kavenegar');
    const url = `${base}/v1/${encodeURIComponent(apiKey)}/account/info.json`;
    const reply = await exchange(site, { url }, signal);
    assertKavenegarSucceeded(site, reply);
    const schema = v.object({ entries: v.object({ remaincredit: v.number() }) });
    return [{ amount: fieldsOf(site, schema, reply).entries.remaincredit, unit: 'IRR' }];
  }),
  'sms-ir': account(smsIrCredentials, async ({ api_key: apiKey, base_url: base }, signal) => {
    const site = siteOf('sms-ir');
    const reply = await exchange(
      site,
      { url: `${base}/v1/credit`, headers: { 'x-api-key': apiKey } },
      signal,
    );
    assertSmsIrSucceeded(site, reply);
    return [{ amount: fieldsOf(site, v.object({ data: v.number() }), reply).data, unit: 'messages' }];
  }),
};

const NOT_CHECKED =
  'No public source shows a call of this provider that names nobody. Look at its panel: token, allowed addresses, balance.';

const TOP_UP = 'Top up the account.';

/** What to do after a failure. Every other one is a question for the provider. */
const ACTIONS: Partial<Record<UnavailableReason, (provider: string) => string>> = {
  credentials: (provider) => `Write the credentials again: providers set ${provider}.`,
  blocked: () => 'It refuses this address, or the account is suspended: see its panel.',
  balance: () => TOP_UP,
  quota: () => 'Wait, or raise the contract.',
  upstream: () => 'It says that it is down. Try again, then see its status page.',
  timeout: () => 'Try again. Can this machine reach it?',
  transport: () => 'Try again. Can this machine reach it?',
};

const STATES: Partial<Record<UnavailableReason, AccountState['state']>> = {
  timeout: 'no_answer',
  transport: 'no_answer',
  malformed: 'unreadable',
  no_verdict: 'unreadable',
};

const failed = (provider: string, { reason, code, cause }: ProviderUnavailable): AccountState => {
  const own = code === undefined || !v.is(word, String(code)) ? [] : [`code ${code}`];
  // `exchange` copies nothing but the code of the error.
  const because = cause instanceof Error ? [cause.message] : [];
  return {
    provider,
    state: STATES[reason] ?? 'refused',
    answer: [...own, reason, ...because].join(', '),
    action: ACTIONS[reason]?.(provider) ?? 'Ask the provider what this answer means.',
  };
};

const checkProvider = async (
  { name: provider, open }: { readonly name: string; open(section: unknown): unknown },
  section: unknown,
): Promise<AccountState> => {
  try {
    open(section);
  } catch (error) {
    const answer = error instanceof Error ? error.message : null;
    return {
      provider,
      state: 'misconfigured',
      answer,
      action: `Write the credentials: providers set ${provider}.`,
    };
  }
  const ask = ACCOUNTS[provider];
  if (ask === undefined) return { provider, state: 'not_checked', answer: null, action: NOT_CHECKED };
  try {
    const balances = await ask(section, AbortSignal.timeout(TIMEOUT_MS));
    const answer = balances.map(({ amount, unit }) => `${amount.toLocaleString('en')} ${unit}`).join(', ');
    return balances.some(({ amount }) => amount > 0)
      ? { provider, state: 'ok', answer, action: null }
      : { provider, state: 'no_credit', answer, action: TOP_UP };
  } catch (error) {
    if (error instanceof ProviderUnavailable) return failed(provider, error);
    throw error;
  }
};

/** Asks providers at once, with their sections of the provider secret. Returns their states in the order of `names`. */
export const checkProviders = (
  names: readonly string[],
  sections: Readonly<Record<string, unknown>>,
): Promise<readonly AccountState[]> => {
  const providers = providersNamed(names, [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS]);
  return Promise.all(providers.map((provider) => checkProvider(provider, sections[provider.name])));
};
