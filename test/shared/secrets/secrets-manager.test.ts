import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { jest } from '@jest/globals';
import { secretsManagerSecret } from '#shared/secrets/secrets-manager.ts';

type Client = NonNullable<Parameters<typeof secretsManagerSecret>[1]>;

const MINUTE_MS = 60_000;

/** A Secrets Manager whose calls the test answers one by one, in any order. */
const secretsManager = () => {
  const calls: { command: GetSecretValueCommand; answer(value?: string): void; fail(): void }[] = [];
  const send = (command: GetSecretValueCommand) =>
    new Promise((resolve, reject) => {
      calls.push({
        command,
        answer: (value) => resolve({ SecretString: value }),
        fail: () => reject(new Error('Secrets Manager is away')),
      });
    });
  return { calls, secret: secretsManagerSecret('the-secret', { send } as unknown as Client) };
};

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('secretsManagerSecret', () => {
  it('asks for the secret it was told, and only when it is read', async () => {
    const { calls, secret } = secretsManager();
    expect(calls).toHaveLength(0);
    const reading = secret.read();
    calls[0]?.answer('value');
    expect(await reading).toBe('value');
    expect(calls[0]?.command).toBeInstanceOf(GetSecretValueCommand);
    expect(calls[0]?.command.input).toEqual({ SecretId: 'the-secret' });
  });

  it('shares one call between all that read at the same moment', async () => {
    const { calls, secret } = secretsManager();
    const readings = [secret.read(), secret.read(), secret.read()];
    calls[0]?.answer('value');
    expect(await Promise.all(readings)).toEqual(['value', 'value', 'value']);
    expect(calls).toHaveLength(1);
  });

  it('remembers the secret for 15 minutes, and then asks once again for all', async () => {
    const { calls, secret } = secretsManager();
    const first = secret.read();
    calls[0]?.answer('old');
    await first;
    jest.setSystemTime(15 * MINUTE_MS);
    expect(await secret.read()).toBe('old');
    jest.setSystemTime(15 * MINUTE_MS + 1);
    const readings = [secret.read(), secret.read()];
    calls[1]?.answer('new');
    expect(await Promise.all(readings)).toEqual(['new', 'new']);
    expect(calls).toHaveLength(2);
  });

  it('asks again at once if the reader wants it fresh, and remembers that', async () => {
    const { calls, secret } = secretsManager();
    const first = secret.read();
    calls[0]?.answer('old');
    await first;
    const fresh = secret.read({ fresh: true });
    calls[1]?.answer('new');
    expect(await fresh).toBe('new');
    expect(await secret.read()).toBe('new');
    expect(calls).toHaveLength(2);
  });

  it('does not remember a failure', async () => {
    const { calls, secret } = secretsManager();
    const failing = [secret.read(), secret.read()];
    calls[0]?.fail();
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = secret.read();
    calls[1]?.answer('value');
    expect(await next).toBe('value');
  });

  it('keeps a later read when an earlier one fails after it', async () => {
    const { calls, secret } = secretsManager();
    const early = secret.read();
    const late = secret.read({ fresh: true });
    calls[1]?.answer('value');
    expect(await late).toBe('value');
    calls[0]?.fail();
    await expect(early).rejects.toThrow('Secrets Manager is away');
    expect(await secret.read()).toBe('value');
    expect(calls).toHaveLength(2);
  });

  it('refuses a secret that holds no text', async () => {
    const { calls, secret } = secretsManager();
    const reading = secret.read();
    calls[0]?.answer(undefined);
    await expect(reading).rejects.toThrow('the secret holds no text');
  });
});
