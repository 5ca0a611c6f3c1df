import * as v from 'valibot';
import { baseUrl, credential } from '#shared/providers/base-url.ts';
import { connection } from '#shared/providers/connection.ts';
import { provider } from '#shared/providers/provider.ts';
import { type UnavailableReason, unavailable } from '#shared/providers/unavailable.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { everythingIn, failureOf, noHurry } from './failure.ts';
import { quietLog } from './quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const SITE = { provider: 'acme', operation: 'o' };

const acme = provider({
  name: 'acme',
  credentials: v.object({ key: credential, base_url: baseUrl('https://acme.example') }),
  open: ({ key, base_url }) => ({ key, base_url }),
});

/** A secret whose kept copy and whose present text a test sets; it counts how often each is read. */
const bench = (section: unknown = { key: 'old-key' }) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const text = (content: unknown) =>
    JSON.stringify({ acme: content, other: { key: 'none-of-its-business' } });
  const secret = { kept: text(section), present: text(section), reads: 0, freshReads: 0 };
  const source = {
    read: async ({ fresh = false } = {}) => {
      secret.reads += 1;
      secret.freshReads += fresh ? 1 : 0;
      if (fresh) secret.kept = secret.present;
      return secret.kept;
    },
  };
  const link = connection(acme, source, clock);
  const refuse = (reason: UnavailableReason = 'credentials') => unavailable(SITE, reason, { refused: true });
  /** Calls a provider that knows one key. */
  const callWith = async (right: string) =>
    link.use(await link.open(SITE, noHurry()), async ({ key }) => {
      if (key !== right) throw refuse();
      return `answer to ${key}`;
    });
  return { clock, secret, text, link, refuse, callWith, source };
};

it('reads nothing until the first use', async () => {
  const { secret, callWith } = bench();
  expect(secret.reads).toBe(0);
  expect(await callWith('old-key')).toBe('answer to old-key');
  expect(secret.freshReads).toBe(0);
});

it('stays open while the secret is the same, and opens anew when it has changed', async () => {
  const { secret, text, link } = bench();
  const first = await link.open(SITE, noHurry());
  expect(await link.open(SITE, noHurry())).toBe(first);
  secret.kept = text({ key: 'new-key' });
  expect((await link.open(SITE, noHurry())).key).toBe('new-key');
});

it('reads the secret afresh when the provider says that the credentials are wrong, and asks once more', async () => {
  const { secret, text, callWith } = bench();
  secret.present = text({ key: 'new-key' });
  expect(await callWith('new-key')).toBe('answer to new-key');
  expect(secret.freshReads).toBe(1);
});

it('does not ask again with the same credentials', async () => {
  const { link, refuse } = bench();
  let asked = 0;
  const call = async () => {
    asked += 1;
    throw refuse();
  };
  const failure = await failureOf(link.use(await link.open(SITE, noHurry()), call));
  expect([failure.reason, asked]).toEqual(['credentials', 1]);
});

it('does not read afresh after any other failure', async () => {
  const { link, refuse, secret } = bench();
  await failureOf(link.use(await link.open(SITE, noHurry()), () => Promise.reject(refuse('quota'))));
  expect(secret.freshReads).toBe(0);
});

it('reads afresh once for 50 who are refused at the same time', async () => {
  const { secret, text, callWith } = bench();
  secret.present = text({ key: 'new-key' });
  const responses = await Promise.all(Array.from({ length: 50 }, () => callWith('new-key')));
  expect(new Set(responses)).toEqual(new Set(['answer to new-key']));
  expect(secret.freshReads).toBe(1);
});

it('reads afresh once in ten seconds while the provider goes on refusing', async () => {
  const { secret, callWith, clock } = bench();
  for (let second = 0; second < 20; second += 1) {
    await failureOf(callWith('another-key'));
    clock.advance(1);
  }
  expect(secret.freshReads).toBe(2);
});

it('keeps the provider’s failure where the secret cannot be read afresh', async () => {
  const { link, refuse, source } = bench();
  const opened = await link.open(SITE, noHurry());
  source.read = () => Promise.reject(new Error('out of reach'));
  expect((await failureOf(link.use(opened, () => Promise.reject(refuse())))).reason).toBe('credentials');
});

describe('a secret that will not do', () => {
  it.each([
    ['has a section that is a text', 'sesame-42', 'missing or wrong in the provider secret: acme'],
    ['lacks a credential', {}, 'missing or wrong in the provider secret: acme.key'],
    ['has an empty one', { key: '' }, 'missing or wrong in the provider secret: acme.key'],
    ['has one of another type', { key: 424242 }, 'missing or wrong in the provider secret: acme.key'],
    [
      'has everything wrong',
      { key: 42, base_url: 'http://sesame-42.example' },
      'missing or wrong in the provider secret: acme.key, acme.base_url',
    ],
  ])(
    'that %s fails as misconfigured, names what is wrong in the log, and shows no value',
    async (_how, section, said) => {
      const failure = await failureOf(bench(section).link.open(SITE, noHurry()));
      expect([failure.reason, failure.refused]).toEqual(['misconfigured', true]);
      expect(lines.join()).toContain(said);
      expect(lines.join() + everythingIn(failure)).not.toMatch(/sesame|424242/);
    },
  );

  it.each(['not JSON, sesame-42', '"sesame-42"', '[]', 'null', ''])(
    'that is the text %j fails so too',
    async (text) => {
      const { link, secret } = bench();
      secret.kept = text;
      expect((await failureOf(link.open(SITE, noHurry()))).reason).toBe('misconfigured');
      expect(lines.join()).toContain('provider_misconfigured');
      expect(lines.join()).not.toContain('sesame');
    },
  );

  it('that has no such section is named', async () => {
    const { link, secret } = bench();
    secret.kept = '{"other":{"key":"sesame-42"}}';
    expect((await failureOf(link.open(SITE, noHurry()))).reason).toBe('misconfigured');
    expect(JSON.parse(lines[0] ?? '').error_message).toBe('the provider secret has no section "acme"');
  });

  it('is read again at the next use', async () => {
    const { link, secret, text } = bench();
    secret.kept = '';
    await failureOf(link.open(SITE, noHurry()));
    secret.kept = text({ key: 'a-key' });
    expect((await link.open(SITE, noHurry())).key).toBe('a-key');
  });

  it('keeps nobody waiting who has left', async () => {
    const { link, source } = bench();
    source.read = () => new Promise(() => {});
    const leaving = new AbortController();
    const opening = failureOf(link.open(SITE, leaving.signal));
    leaving.abort();
    expect((await opening).reason).toBe('aborted');
  });
});

describe('base_url', () => {
  const opened = async (base_url: string) =>
    (await bench({ key: 'k', base_url }).link.open(SITE, noHurry())).base_url;

  it.each([
    ['https://relay.example', 'https://relay.example'],
    ['https://relay.example:8443/ide/', 'https://relay.example:8443/ide'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
  ])('may be %s', async (url, taken) => {
    expect(await opened(url)).toBe(taken);
  });

  it.each([
    'http://relay.example',
    'http://127.0.0.1.relay.example',
    'http://localhost.relay.example',
    'ftp://localhost',
    'https://user:password@relay.example',
    'https://relay.example?x=1',
    'https://relay.example#x',
    'relay.example',
    '',
  ])('may not be %j', async (url) => {
    expect((await failureOf(opened(url))).reason).toBe('misconfigured');
  });

  it('is the provider’s own where none is given', async () => {
    expect((await bench({ key: 'k' }).link.open(SITE, noHurry())).base_url).toBe('https://acme.example');
  });
});
