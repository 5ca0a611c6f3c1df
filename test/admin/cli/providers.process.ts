import { STAGES } from '#lib/stages.ts';
import { startAccountDouble } from '#test/bin/account-double.ts';
import { startCommand } from './cli-process.ts';
import { runCommand, runWithInput } from './in-process.ts';
import { CTRL_C, itOnTerminal, onTerminal } from './pseudo-terminal.ts';

const SECRET = STAGES.prod.providers.secretName;
const JIBIT = { api_key: 'key-of-a-test', secret_key: 'secret-of-a-test' };

let aws: Awaited<ReturnType<typeof startAccountDouble>>;
beforeAll(async () => {
  aws = await startAccountDouble();
  // The SDK clients of commands that run in this process read it.
  Object.assign(process.env, aws.environment);
});
beforeEach(() => aws.secrets.clear());
afterAll(() => aws.stop());

const set = (provider: string, input: string, ...options: readonly string[]) =>
  runWithInput(['providers', 'set', provider, ...options], input);

const stored = (): unknown => JSON.parse(aws.secrets.get(SECRET) ?? 'null');

describe('providers set', () => {
  it('creates the secret of the stage from a JSON object on stdin, and names the fields only', async () => {
    const command = ['providers', 'set', 'jibit', '--stage', 'prod'];
    const ended = await startCommand(command, aws.environment, JSON.stringify(JIBIT)).ended;
    expect(ended).toEqual({
      exitCode: 0,
      out: `Set api_key, secret_key of jibit in the secret ${SECRET}.\n`,
      error: '',
    });
    expect(stored()).toEqual({ jibit: JIBIT });
  });

  it('replaces the section of the provider and keeps the others', async () => {
    aws.secrets.set(SECRET, JSON.stringify({ zohal: { token: 'kept' }, jibit: { api_key: 'old' } }));
    const { out } = await set('jibit', JSON.stringify(JIBIT), '--stage', 'prod', '--json');
    expect(JSON.parse(out)).toEqual({
      stage: 'prod',
      provider: 'jibit',
      secret: SECRET,
      fields: ['api_key', 'secret_key'],
    });
    expect(stored()).toEqual({ zohal: { token: 'kept' }, jibit: JIBIT });
  });

  it('keeps the sections when the order is written, and names an unknown provider', async () => {
    aws.secrets.set(SECRET, JSON.stringify({ jibit: JIBIT }));
    const order = (...args: string[]) => runCommand(['providers', 'order', ...args]);
    const ended = await order('zohal', 'jibit', '--stage', 'prod');
    expect(ended).toMatchObject({ exitCode: 0, error: '' });
    expect(ended.out).toBe(
      `zohal, jibit: the order in the secret ${SECRET}. Functions read it within 15 minutes.\n`,
    );
    expect(stored()).toEqual({ jibit: JIBIT, order: ['zohal', 'jibit'] });
    expect((await order('pigeon', '--stage', 'prod')).error).toContain("argument value 'pigeon' is invalid");
    expect(stored()).toEqual({ jibit: JIBIT, order: ['zohal', 'jibit'] });
  });

  itOnTerminal('asks for each field without showing what is typed', async () => {
    const { exitCode, screen } = await onTerminal(
      {
        environment: aws.environment,
        answers: [
          ['sms-ir api_key: ', 'typed-in-secret\r'],
          ['sms-ir template_id: ', '100000\r'],
          ['sms-ir template_id_en (Enter for none): ', '100001\r'],
        ],
      },
      'providers',
      'set',
      'sms-ir',
      '--stage',
      'prod',
    );
    expect(exitCode).toBe(0);
    expect(screen).not.toMatch(/typed-in-secret|10000[01]/);
    expect(stored()).toEqual({
      'sms-ir': { api_key: 'typed-in-secret', template_id: 100_000, template_id_en: 100_001 },
    });
  });

  itOnTerminal('leaves out an optional field that is left empty', async () => {
    const { exitCode } = await onTerminal(
      {
        environment: aws.environment,
        answers: [
          ['kavenegar api_key: ', 'typed-in-secret\r'],
          ['kavenegar template: ', 'sign-in\r'],
          ['kavenegar template_en (Enter for none): ', '\r'],
        ],
      },
      'providers',
      'set',
      'kavenegar',
      '--stage',
      'prod',
    );
    expect(exitCode).toBe(0);
    expect(stored()).toEqual({ kavenegar: { api_key: 'typed-in-secret', template: 'sign-in' } });
  });

  itOnTerminal('changes nothing after Ctrl-C', async () => {
    const { exitCode, screen } = await onTerminal(
      { environment: aws.environment, answers: [['zohal token: ', CTRL_C]] },
      'providers',
      'set',
      'zohal',
      '--stage',
      'prod',
    );
    expect(exitCode).toBe(130);
    expect(screen).toContain('Nothing was changed.');
    expect(aws.secrets.size).toBe(0);
  });

  it.each([
    ['a missing field', 'jibit', '{"api_key":"value-of-a-test"}', 'Missing, wrong or unknown: secret_key.'],
    [
      'an unknown field',
      'zohal',
      '{"token":"value-of-a-test","tokn":"x"}',
      'Missing, wrong or unknown: tokn.',
    ],
    ['a wrong type', 'sms-ir', '{"api_key":"value-of-a-test","template_id":"x"}', 'unknown: template_id.'],
    [
      'an address without TLS',
      'zohal',
      '{"token":"t","base_url":"http://value-of-a-test"}',
      'unknown: base_url.',
    ],
    ['text that is not JSON', 'zohal', 'value-of-a-test', 'Stdin must be a JSON object with token.'],
    ['a list', 'zohal', '["value-of-a-test"]', 'Missing, wrong or unknown: token'],
  ])(
    'refuses %s in one sentence without the value, and changes nothing',
    async (_, provider, input, sentence) => {
      const { exitCode, out, error } = await set(provider, input, '--stage', 'prod');
      expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
      expect(error).toContain(sentence);
      expect(error).not.toContain('value-of-a-test');
      expect(error.trim().split('\n')).toHaveLength(1);
      expect(aws.secrets.size).toBe(0);
    },
  );

  it('refuses to overwrite a secret that is not a JSON object', async () => {
    aws.secrets.set(SECRET, 'text');
    const { exitCode, error } = await set('jibit', JSON.stringify(JIBIT), '--stage', 'prod');
    expect(exitCode).toBe(1);
    expect(error).toContain('is not a JSON object with a section for each provider. Nothing was changed.');
    expect(aws.secrets.get(SECRET)).toBe('text');
  });

  it.each([
    [['pigeon', '--stage', 'prod'], 2, 'Allowed choices are jibit, zohal, kavenegar, sms-ir.'],
    [['sandbox', '--stage', 'dev'], 2, "argument value 'sandbox' is invalid"],
    [
      ['jibit'],
      2,
      'The local service uses the sandbox, which needs no credentials. Name a stage: --stage prod.',
    ],
    [['jibit', '--stage', 'qa'], 1, 'The stages of lib/stages.ts are dev and prod: there is no "qa".'],
  ] as [string[], number, string][])(
    'refuses %j with exit code %i and says why',
    async ([provider = '', ...options], exitCode, sentence) => {
      const ended = await runCommand(['providers', 'set', provider, ...options]);
      expect(ended).toMatchObject({ exitCode, out: '' });
      expect(ended.error).toContain(sentence);
    },
  );
});
