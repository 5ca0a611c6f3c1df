import * as v from 'valibot';
import { connection } from '#shared/providers/connection.ts';
import { credential, provider } from '#shared/providers/provider.ts';
import { ProviderUnavailable, type UnavailableReason } from '#shared/providers/unavailable.ts';
import { runInRequest } from '#shared/request-context.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { everythingIn, failureOf, neverAborted } from './failure.ts';
import { quietLog } from './quiet-log.ts';

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

/** A connection over a secret. A test sets the cached and the present text of the secret; every read is counted. */
const connectionOver = (section: unknown = { key: 'old-key' }) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const text = (content: unknown) => JSON.stringify({ acme: content, other: { key: 'of-another-provider' } });
  const secret = { cached: text(section), present: text(section), reads: 0, freshReads: 0 };
  const source = {
    read: async ({ fresh = false } = {}) => {
      secret.reads += 1;
      secret.freshReads += fresh ? 1 : 0;
      if (fresh) secret.cached = secret.present;
      return secret.cached;
    },
  };
  const link = connection(acme, source, clock);
  const fail = (reason: UnavailableReason = 'credentials') =>
    new ProviderUnavailable(SITE, reason, { delivery: 'not_sent' });
  /** Calls a provider that accepts one key. */
  const callWith = async (right: string) =>
    link.use(await link.open(SITE, neverAborted()), async ({ key }) => {
      if (key !== right) throw fail();
      return `response to ${key}`;
    });
  return { clock, secret, text, link, fail, callWith, source };
};

describe('connection', () => {
  it('reads the secret at the first use', async () => {
    const { secret, callWith } = connectionOver();
    expect(secret.reads).toBe(0);
    expect(await callWith('old-key')).toBe('response to old-key');
    expect(secret.freshReads).toBe(0);
  });

  it('keeps the opened provider until the secret changes', async () => {
    const { secret, text, link } = connectionOver();
    const first = await link.open(SITE, neverAborted());
    expect(await link.open(SITE, neverAborted())).toBe(first);
    secret.cached = text({ key: 'new-key' });
    expect((await link.open(SITE, neverAborted())).key).toBe('new-key');
  });

  it('reads the secret again when the provider refuses the credentials, and calls once more', async () => {
    const { secret, text, callWith } = connectionOver();
    secret.present = text({ key: 'new-key' });
    expect(await callWith('new-key')).toBe('response to new-key');
    expect(secret.freshReads).toBe(1);
  });

  it('does not call again with the same credentials', async () => {
    const { link, fail } = connectionOver();
    let calls = 0;
    const call = async () => {
      calls += 1;
      throw fail();
    };
    const failure = await failureOf(link.use(await link.open(SITE, neverAborted()), call));
    expect([failure.reason, calls]).toEqual(['credentials', 1]);
  });

  it('does not read the secret again after any other failure', async () => {
    const { link, fail, secret } = connectionOver();
    await failureOf(link.use(await link.open(SITE, neverAborted()), () => Promise.reject(fail('quota'))));
    expect(secret.freshReads).toBe(0);
  });

  it('reads the secret once for 50 concurrent calls with refused credentials', async () => {
    const { secret, text, callWith } = connectionOver();
    secret.present = text({ key: 'new-key' });
    const responses = await Promise.all(Array.from({ length: 50 }, () => callWith('new-key')));
    expect(new Set(responses)).toEqual(new Set(['response to new-key']));
    expect(secret.freshReads).toBe(1);
  });

  it('reads the secret at most once in ten seconds while the provider keeps refusing the credentials', async () => {
    const { secret, callWith, clock } = connectionOver();
    for (let second = 0; second < 20; second += 1) {
      await failureOf(callWith('another-key'));
      clock.advance(1);
    }
    expect(secret.freshReads).toBe(2);
  });

  it("throws the provider's failure when the secret cannot be read again", async () => {
    const { link, fail, source } = connectionOver();
    const opened = await link.open(SITE, neverAborted());
    source.read = () => Promise.reject(new Error('unreachable'));
    expect((await failureOf(link.use(opened, () => Promise.reject(fail())))).reason).toBe('credentials');
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
      const { link, secret } = connectionOver();
      secret.cached = text;
      const failure = await failureOf(link.open(SITE, neverAborted()));
      expect([failure.reason, failure.delivery]).toEqual(['misconfigured', 'not_sent']);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'provider_misconfigured', provider: 'acme' });
      expect(lines.join() + everythingIn(failure)).not.toContain('sesame');
    });

    it('is logged with what is wrong and with the id of the request', async () => {
      const { link } = connectionOver({});
      const request = { requestId: 'req-1', operation: 'create-user', signal: neverAborted(), calls: [] };
      await failureOf(runInRequest(request, () => link.open(SITE, neverAborted())));
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        request_id: 'req-1',
        error_message: 'missing or wrong in the provider secret: acme.key',
      });
    });

    it('ends when the secret is corrected', async () => {
      const { link, secret, text } = connectionOver();
      secret.cached = '';
      await failureOf(link.open(SITE, neverAborted()));
      secret.cached = text({ key: 'a-key' });
      expect((await link.open(SITE, neverAborted())).key).toBe('a-key');
    });
  });

  it('does not keep a caller waiting for the secret after its signal has aborted', async () => {
    const { link, source } = connectionOver();
    source.read = () => new Promise(() => {});
    const caller = new AbortController();
    const opening = failureOf(link.open(SITE, caller.signal));
    caller.abort();
    expect((await opening).reason).toBe('aborted');
  });
});
