import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { cachedPromise } from '#shared/cached-promise.ts';
import { runInRequest } from '#shared/request-context.ts';
import { fileSecret, secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

const lines = quietLog();
beforeEach(() => {
  lines.length = 0;
});

type Client = NonNullable<Parameters<typeof secretsManagerSecret>[1]>;

const MINUTE_SECONDS = 60;

interface PendingCall {
  readonly command: GetSecretValueCommand;
  readonly abortSignal: AbortSignal | undefined;
  respond(value?: string): void;
  fail(): void;
}

/** A Secrets Manager whose calls a test completes one by one. */
const secretsManager = () => {
  const calls: PendingCall[] = [];
  const send = (command: GetSecretValueCommand, options: { abortSignal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      calls.push({
        command,
        abortSignal: options.abortSignal,
        respond: (value) => resolve({ SecretString: value }),
        fail: () => reject(new Error('Secrets Manager is unreachable')),
      });
      options.abortSignal?.addEventListener('abort', () => reject(options.abortSignal?.reason));
    });
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const monotonic = fakeClock('1970-01-01T00:00:00Z');
  const timeouts: { readonly ms: number; readonly controller: AbortController }[] = [];
  const timeoutSignal = (ms: number) => {
    const controller = new AbortController();
    timeouts.push({ ms, controller });
    return controller.signal;
  };
  const client = { send } as unknown as Client;
  const secret = secretsManagerSecret('the-secret', client, { clocks: [monotonic, clock], timeoutSignal });
  /** Reads the secret; the next call returns `value`. */
  const readWith = async (value: string) => {
    const reading = secret.read();
    calls.at(-1)?.respond(value);
    return reading;
  };
  return { calls, timeouts, clock, monotonic, client, secret, readWith };
};

const failures = () =>
  lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'secret_refresh_failed');

describe('secretsManagerSecret', () => {
  it('calls Secrets Manager at the first read', async () => {
    const { calls, readWith } = secretsManager();
    expect(calls).toHaveLength(0);
    expect(await readWith('value')).toBe('value');
    expect(calls[0]?.command).toBeInstanceOf(GetSecretValueCommand);
    expect(calls[0]?.command.input).toEqual({ SecretId: 'the-secret' });
  });

  it('shares one call between concurrent reads', async () => {
    const { calls, secret } = secretsManager();
    const readings = [secret.read(), secret.read(), secret.read()];
    calls[0]?.respond('value');
    expect(await Promise.all(readings)).toEqual(['value', 'value', 'value']);
    expect(calls).toHaveLength(1);
  });

  it('caches the value for 15 minutes of the system clock, also while the monotonic clock stands still, and then refreshes it once for concurrent reads', async () => {
    const { calls, clock, secret, readWith } = secretsManager();
    await readWith('old');
    clock.advance(15 * MINUTE_SECONDS - 0.001);
    expect(await secret.read()).toBe('old');
    clock.advance(0.001);
    const readings = [secret.read(), secret.read()];
    calls[1]?.respond('new');
    expect(await Promise.all(readings)).toEqual(['new', 'new']);
    expect(calls).toHaveLength(2);
  });

  it('refreshes the value when the monotonic clock counts 15 minutes, although the system clock was set back', async () => {
    const { clock, monotonic, readWith } = secretsManager();
    await readWith('old');
    clock.advance(-3600);
    monotonic.advance(15 * MINUTE_SECONDS);
    expect(await readWith('new')).toBe('new');
  });

  it.each([
    ['system', Date],
    ['monotonic', performance],
  ])('refreshes the value in a deployment when the %s clock alone counts 15 minutes', async (_, source) => {
    const { calls, client } = secretsManager();
    const secret = secretsManagerSecret('the-secret', client);
    const reading = secret.read();
    calls[0]?.respond('old');
    await reading;
    const { now } = source;
    source.now = () => now.call(source) + 15 * MINUTE_SECONDS * 1000;
    const again = secret.read();
    source.now = now;
    calls[1]?.respond('new');
    expect(await again).toBe('new');
  });

  it('throws the error to all concurrent reads while there is no good value, and calls again at the next read', async () => {
    const { calls, secret, readWith } = secretsManager();
    const readings = [secret.read(), secret.read()];
    calls[0]?.fail();
    const results = await Promise.allSettled(readings);
    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual([
      'Secrets Manager is unreachable',
      'Secrets Manager is unreachable',
    ]);
    expect(await readWith('value')).toBe('value');
    expect(failures()).toEqual([]);
  });

  it('throws if the secret holds no text', async () => {
    const { calls, secret } = secretsManager();
    const reading = secret.read();
    calls[0]?.respond(undefined);
    await expect(reading).rejects.toThrow('the secret holds no text');
  });
});

describe('secretsManagerSecret, when a refresh fails', () => {
  /** A secret with the good value `old` whose first refresh has failed. */
  const failedRefresh = async () => {
    const manager = secretsManager();
    await manager.readWith('old');
    manager.clock.advance(15 * MINUTE_SECONDS);
    const reading = manager.secret.read();
    manager.calls[1]?.fail();
    return { ...manager, value: await reading };
  };

  it('returns the last good value, and logs the failure once, with a metric', async () => {
    expect((await failedRefresh()).value).toBe('old');
    expect(failures()).toMatchObject([
      {
        level: 'ERROR',
        secret: 'the-secret',
        error_message: 'Secrets Manager is unreachable',
        SecretRefreshFailures: 1,
      },
    ]);
  });

  it('calls again after 30 seconds, not at every read', async () => {
    const { calls, clock, secret } = await failedRefresh();
    clock.advance(29.999);
    expect(await secret.read()).toBe('old');
    expect(calls).toHaveLength(2);
    clock.advance(0.001);
    const reading = secret.read();
    calls[2]?.respond('new');
    expect(await reading).toBe('new');
  });

  it('returns the last good value for as long as the outage lasts', async () => {
    const { calls, clock, secret } = await failedRefresh();
    for (let hour = 0; hour < 24; hour += 1) {
      clock.advance(3600);
      const reading = secret.read();
      calls.at(-1)?.fail();
      expect(await reading).toBe('old');
    }
    expect(failures()).toHaveLength(25);
  });

  it('does not wait for a refresh without a response for longer than a second', async () => {
    const { timeouts, clock, secret, readWith } = secretsManager();
    await readWith('old');
    clock.advance(15 * MINUTE_SECONDS);
    const reading = secret.read();
    expect(timeouts.map(({ ms }) => ms)).toEqual([1000]);
    timeouts[0]?.controller.abort();
    expect(await reading).toBe('old');
  });
});

it('ends a first read with the signal of the request, and records its milliseconds', async () => {
  const { calls, secret } = secretsManager();
  const caller = new AbortController();
  const request = requestUntil(endless({ signal: caller.signal }));
  const reading = runInRequest(request, () => secret.read());
  caller.abort(new Error('the deadline has passed'));
  await expect(reading).rejects.toThrow('the deadline has passed');
  expect(calls).toHaveLength(1);
  expect(request.calls).toEqual([{ target: 'secretsmanager:GetSecretValue', ms: expect.any(Number) }]);
});

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('fileSecret', () => {
  it('reads the file each time, so that an edit takes effect at once', async () => {
    const path = join(folder, 'secret.json');
    const secret = fileSecret(path);
    await writeFile(path, 'old');
    expect(await secret.read()).toBe('old');
    await writeFile(path, 'new');
    expect(await secret.read()).toBe('new');
  });

  it('throws if the file is missing', async () => {
    await expect(fileSecret(join(folder, 'missing.json')).read()).rejects.toThrow('ENOENT');
  });
});

describe('cachedPromise', () => {
  it('loads once for calls at the same time and for later ones', async () => {
    let loads = 0;
    const get = cachedPromise(async () => {
      loads += 1;
      return loads;
    });
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it('loads again after a rejected load', async () => {
    const results = [Promise.reject(new Error('down')), Promise.resolve('up')];
    const get = cachedPromise(() => results.shift() as Promise<string>);
    await expect(get()).rejects.toThrow('down');
    expect(await get()).toBe('up');
  });
});
