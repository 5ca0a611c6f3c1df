import * as v from 'valibot';
import { baseUrl, credential, portOpener, provider, providersNamed } from '#shared/providers/provider.ts';
import { runInRequest } from '#shared/request-context.ts';
import { requestUntil } from '#test/fakes/request.ts';
import { everythingIn, failureOf, neverAborted } from './failure.ts';
import { quietLog } from './quiet-log.ts';

describe('provider', () => {
  const { open } = provider({
    name: 'acme',
    credentials: v.object({ key: credential, base_url: baseUrl('https://acme.example') }),
    open: (credentials) => credentials,
  });

  it.each([
    ['is a string', 'sesame-42', 'acme'],
    ['lacks a credential', {}, 'acme.key'],
    ['has an empty credential', { key: '' }, 'acme.key'],
    ['has a credential of another type', { key: 424242 }, 'acme.key'],
    ['has only wrong values', { key: 42, base_url: 'http://sesame-42.example' }, 'acme.key, acme.base_url'],
  ])('names what is wrong, without its value, when a section %s', (_how, section, names) => {
    expect(() => open(section)).toThrow(new Error(`missing or wrong in the provider secret: ${names}`));
  });

  it('throws an error that names a missing section', () => {
    expect(() => open(undefined)).toThrow('the provider secret has no section "acme"');
  });

  const baseUrlOf = (base_url?: string) => open({ key: 'k', base_url }).base_url;

  it.each([
    ['https://relay.example', 'https://relay.example'],
    ['https://relay.example:8443/ide/', 'https://relay.example:8443/ide'],
    ['HTTPS://Relay.Example/ide', 'https://relay.example/ide'],
    [' https://relay.example ', 'https://relay.example'],
    ['HTTP://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
  ])('accepts the base_url %s', (url, used) => {
    expect(baseUrlOf(url)).toBe(used);
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
  ])('rejects the base_url %j', (url) => {
    expect(() => baseUrlOf(url)).toThrow('acme.base_url');
  });

  it("uses the provider's own base_url when none is given", () => {
    expect(baseUrlOf()).toBe('https://acme.example');
  });
});

describe('providersNamed', () => {
  const KNOWN = [{ name: 'jibit' }, { name: 'zohal' }];

  it('returns the providers in the order of the names', () => {
    expect(providersNamed(['zohal', 'jibit'], KNOWN).map(({ name }) => name)).toEqual(['zohal', 'jibit']);
  });

  it.each([
    [['acme'], 'unknown provider "acme"; there are: jibit, zohal'],
    [['jibit', 'Zohal'], 'unknown provider "Zohal"; there are: jibit, zohal'],
    [['jibit', 'jibit'], 'a provider is named twice: jibit, jibit'],
    [[], 'no provider is named; there are: jibit, zohal'],
  ])('rejects the names %j and lists the known ones', (names, message) => {
    expect(() => providersNamed(names, KNOWN)).toThrow(message);
  });
});

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

const SITE = { provider: 'acme', operation: 'o' };

const acme = provider({
  name: 'acme',
  credentials: v.object({ key: credential }),
  open: ({ key }) => ({ key }),
});

/** Opens the provider with a secret, whose text a test can change. */
const openerOver = (section: unknown = { key: 'old-key' }) => {
  const text = (content: unknown) => JSON.stringify({ acme: content, other: { key: 'of-another-provider' } });
  const secret = { text: text(section), reads: 0 };
  const source = {
    read: async () => {
      secret.reads += 1;
      return secret.text;
    },
  };
  const opener = portOpener(acme, source);
  const open = (signal = neverAborted()) => opener(SITE, signal);
  return { secret, text, open, source };
};

describe('portOpener', () => {
  it('reads the secret at the first call, and keeps the opened port until the secret changes', async () => {
    const { secret, text, open } = openerOver();
    expect(secret.reads).toBe(0);
    const first = await open();
    expect([first.key, secret.reads]).toEqual(['old-key', 1]);
    expect(await open()).toBe(first);
    secret.text = text({ key: 'new-key' });
    expect((await open()).key).toBe('new-key');
  });

  it('reads no secret for a provider without credentials', async () => {
    const open = portOpener(
      { name: 'open', credentials: undefined, open: () => 'port' },
      { read: () => Promise.reject(new Error('read')) },
    );
    expect(await open(SITE, neverAborted())).toBe('port');
  });

  describe('misconfigured', () => {
    it.each([
      ['the section lacks a credential', '{"acme":{}}'],
      ['the section is missing', '{"other":{"key":"sesame"}}'],
      ['the secret is not JSON', 'not JSON, sesame-42'],
      ['the secret is a JSON string', '"sesame-42"'],
      ['the secret is a list', '[]'],
      ['the secret is null', 'null'],
      ['the secret is empty', ''],
    ])('is the reason when %s, and neither error nor log shows a value', async (_what, text) => {
      const { open, secret } = openerOver();
      secret.text = text;
      const failure = await failureOf(open());
      expect([failure.reason, failure.delivery]).toEqual(['misconfigured', 'not_reached']);
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({
          event: 'provider_failed',
          provider: 'acme',
          provider_operation: SITE.operation,
          reason: 'misconfigured',
        }),
      ]);
      expect(lines.join() + everythingIn(failure)).not.toContain('sesame');
    });

    it('is logged with what is wrong and with the id of the request', async () => {
      const { open } = openerOver({});
      const request = requestUntil();
      await failureOf(runInRequest(request, () => open()));
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        request_id: 'req-1',
        error_message: 'missing or wrong in the provider secret: acme.key',
      });
    });

    it('ends when the secret is corrected', async () => {
      const { open, secret, text } = openerOver();
      secret.text = '';
      await failureOf(open());
      secret.text = text({ key: 'a-key' });
      expect((await open()).key).toBe('a-key');
    });
  });

  it('does not keep a caller waiting for the secret after its signal has aborted', async () => {
    const { open, source } = openerOver();
    source.read = () => new Promise(() => {});
    const caller = new AbortController();
    const opening = failureOf(open(caller.signal));
    caller.abort();
    expect((await opening).reason).toBe('aborted');
  });
});
