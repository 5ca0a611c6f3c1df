import { ConfigError, configOf, deployFaults, parseConfig, testKeyNotes } from '#lib/config.ts';
import { regionWarnings } from '#lib/region-warnings.ts';
import { STAGES, type Stage } from '#lib/stages.ts';
import { COMPLETE, stageApp, stageConfig } from './synthesized.ts';

/** Returns the message of the error with which settings are refused; undefined if they are not. */
const refusalOf = (changes: Partial<Stage>, stage: keyof typeof STAGES = 'dev'): string | undefined => {
  try {
    parseConfig(stage, { ...STAGES[stage], ...changes });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
};

const REAL = { ...STAGES.prod.providers };

const OWN_VAULT = {
  vaultArn: 'arn:aws:backup:eu-west-1:111122223333:backup-vault:copies',
  every: 'day',
  keepDays: 35,
} as const;

const HERE = { account: '111122223333', region: 'eu-central-1' } as const;

const CLOSED_DOMAIN = {
  name: 'api.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0',
  defaultEndpoint: 'closed',
} as const;

const OPEN_DOMAIN = { ...CLOSED_DOMAIN, defaultEndpoint: 'open' } as const;

const TOPIC = { topicArn: 'arn:aws:sns:eu-central-1:111122223333:on-call' } as const;

const zonesIn = (region: string) => ({ natGateways: 'one', zones: [`${region}a`, `${region}b`] }) as const;

describe('the settings of a stage', () => {
  test('are refused where types cannot say what is wrong, in one sentence that names the setting', () => {
    const { providers } = STAGES.dev;
    const firewall = { requestsPerAddress: 1000, codesPerAddress: 100, blockMalformedKeys: false };
    const smsPerDay = 1000;
    const wrong: readonly (readonly [Partial<Stage>, string])[] = [
      [{ account: '123' }, `account must look like '123456789012'`],
      [{ region: 'Frankfurt' }, `region must look like 'eu-central-1'`],
      [{ region: 'eu-west-1', hashSecretReplica: 'eu-west-1' }, 'hashSecretReplica must be another Region'],
      [{ providers: { ...providers, sms: ['kavenegar'] } }, '"sandbox" must be the only provider'],
      [
        { providers: { ...providers, sms: ['pigeon'], identityRegistry: ['zohal'] } },
        'unknown provider "pigeon"',
      ],
      [{ providers: { ...providers, sms: [] } }, 'no provider is named'],
      [{ spend: { paidChecksPerDay: 0, smsPerDay: null } }, 'spend must be whole numbers above 0'],
      [{ keys: 'live', providers: REAL }, `removal 'destroy' would delete live users with the stack`],
      [{ openRoutes: { requestsPerSecond: 0.5, burst: 1 } }, 'openRoutes and keyedRoutes must be whole'],
      [{ keyedRoutes: { requestsPerSecond: 100, burst: 0 } }, 'openRoutes and keyedRoutes must be whole'],
      [
        { firewall: { ...firewall, requestsPerAddress: 9 } },
        'firewall must have whole numbers of at least 10',
      ],
      [{ firewall: { ...firewall, codesPerAddress: 10.5 } }, 'firewall must have whole numbers of at least'],
      [
        { account: '111122223333', region: 'eu-west-1', backupCopy: OWN_VAULT },
        'backupCopy must name a vault of another Region or account',
      ],
      [
        { alarmThresholds: { ...STAGES.dev.alarmThresholds, portCalls: 0 } },
        'alarmThresholds must be whole numbers above 0',
      ],
      [
        { reservedConcurrency: { accountQuota: 1000, functions: { authorizer: 400, 'create-user': 400 } } },
        'reservedConcurrency must leave 200 of accountQuota to the functions that it does not name, and 1 to the check before traffic',
      ],
      [{ signingKeys: [] }, 'signing keys must be different labels'],
      [{ retiredSigningKeys: ['k1'] }, 'signing keys must be different labels'],
      [{ issuers: ['domain'] }, `issuers may name 'domain' only with domain`],
      [{ issuers: ['default-endpoint', 'domain'] }, `issuers may name 'domain' only with domain`],
      ...[
        'https://api.example.com',
        'api.example.com/v1',
        'my_api.example.com',
        'localhost',
        '*.example.com',
        'Api.example.com',
        'api.example.com.',
      ].map(
        (name) =>
          [
            { domain: { ...OPEN_DOMAIN, name } },
            `domain.name must look like 'api.your-company.com'`,
          ] as const,
      ),
      ...[
        [{ ...HERE, domain: OPEN_DOMAIN, region: 'us-east-1' }, 'domain.certificateArn'] as const,
        [{ ...HERE, domain: OPEN_DOMAIN, account: '444455556666' }, 'domain.certificateArn'] as const,
        [{ ...HERE, alarms: TOPIC, region: 'us-east-1' }, 'alarms.topicArn'] as const,
        [{ ...HERE, alarms: TOPIC, account: '444455556666' }, 'alarms.topicArn'] as const,
      ].map(([settings, name]) => [settings, `${name} must be a `] as const),
      [{ ...HERE, staticEgress: zonesIn('us-east-1') }, 'staticEgress.zones must be zones of eu-central-1'],
      [
        { staticEgress: { natGateways: 'one', zones: ['eu-central-1a', 'eu-central-1a'] } },
        'staticEgress.zones must be two zones',
      ],
      [{ domain: CLOSED_DOMAIN }, `'default-endpoint' first only while that is open`],
      [{ otpAccess: 'public' }, 'otpAccess "public" requires firewall and spend.smsPerDay'],
      [{ otpAccess: 'public', firewall }, 'otpAccess "public" requires'],
      [{ otpAccess: 'public', spend: { paidChecksPerDay: null, smsPerDay } }, 'otpAccess "public" requires'],
    ];
    for (const [changes, sentence] of wrong) {
      expect({ changes, message: refusalOf(changes) }).toEqual({
        changes,
        message: expect.stringMatching(/^Stage dev of lib\/stages\.ts: [^\n]+\.$/),
      });
      expect(refusalOf(changes)).toContain(sentence);
    }
    expect(refusalOf({ otpAccess: 'public', firewall, spend: { paidChecksPerDay: null, smsPerDay } })).toBe(
      undefined,
    );
    for (const issuers of [['domain'], ['domain', 'default-endpoint']] as const)
      expect(refusalOf({ domain: CLOSED_DOMAIN, issuers })).toBe(undefined);
    const functions = { authorizer: 400, 'create-user': 399 };
    expect(refusalOf({ reservedConcurrency: { accountQuota: 1000, functions } })).toBe(undefined);
    expect(refusalOf({ providers }, 'prod')).toContain(
      '"sandbox" must be the only provider of both ports, and not with live keys',
    );
    for (const elsewhere of [{ account: '444455556666' }, { region: 'eu-west-2' }])
      expect(
        refusalOf({ account: '111122223333', region: 'eu-west-1', backupCopy: OWN_VAULT, ...elsewhere }),
      ).toBe(undefined);
  });

  test('are accepted with a domain, a topic and zones of the account and Region of the stage, or of any where it names none', () => {
    const settings = { domain: OPEN_DOMAIN, alarms: TOPIC, staticEgress: zonesIn('eu-central-1') };
    for (const place of [HERE, { account: null, region: null }, { ...HERE, account: null }])
      expect(refusalOf({ ...settings, ...place })).toBe(undefined);
    expect(refusalOf({ domain: { ...OPEN_DOMAIN, name: 'xn--mgba3a4f16a.xn--mgba3a4f16a-2.ir' } })).toBe(
      undefined,
    );
  });

  test('are refused with one line for each fault', () => {
    expect(refusalOf({ account: '123', signingKeys: [] })?.split('\n')).toHaveLength(2);
  });

  test('of a stage that does not exist are refused with the names of the stages, and without a secret', () => {
    for (const name of ['qa', 'toString']) {
      expect(() => configOf(name)).toThrow(
        `The stages of lib/stages.ts are dev and prod: there is no "${name}".`,
      );
    }
    expect(() => configOf(`blk_test_${'a'.repeat(38)}`)).toThrow('there is no "[redacted]".');
    expect(() => configOf(undefined)).toThrow('The stages of lib/stages.ts are dev and prod: name one.');
    expect(() => parseConfig('my-stage', STAGES.dev)).toThrow('its name must be 2 to 16 lower-case letters');
  });

  test('say whether the keys are live ones, whatever the name of the stage', () => {
    const prefixes = [configOf('prod'), configOf('dev'), parseConfig('eu', STAGES.prod)];
    expect(prefixes.map(({ keyPrefix }) => keyPrefix)).toEqual(['blk_live_', 'blk_test_', 'blk_live_']);
  });
});

test('test keys with real providers are a note, which names the checks of a deploy that are off', () => {
  const providers = { ...REAL, secretName: 'buyer-linking/dev/providers' };
  expect(testKeyNotes(stageConfig('dev', { providers }))).toEqual([
    `Note: dev has keys 'test' and real providers: a deploy requires none of account, region, alarms, spend, backupCopy, accepts removal 'destroy', and lets other stages into its account.`,
  ]);
  expect([...testKeyNotes(stageConfig('dev')), ...testKeyNotes(stageConfig('prod'))]).toEqual([]);
});

test('a Region that CDK does not know is a warning, since it may be new', () => {
  const typo = stageConfig('dev', { region: 'eu-centrl-1', hashSecretReplica: 'eu-west-1' });
  expect(regionWarnings(typo)).toEqual([
    'Warning: dev names the Region eu-centrl-1, which CDK does not know: a new one, or a typo?',
  ]);
  expect(regionWarnings(stageConfig('dev', { region: null }))).toEqual([]);
});

describe('a deploy', () => {
  const PROD_ACCOUNT = '111122223333';
  const complete = { ...COMPLETE, account: PROD_ACCOUNT, region: 'eu-central-1' };
  const [dev, prod] = [stageConfig('dev'), stageConfig('prod', complete)];
  const stages = [dev, prod];

  test('of prod is refused with one sentence for each setting that is missing, which shows its shape', () => {
    const unset = deployFaults(stageConfig('prod'), stages);
    expect(unset).toEqual([
      "Set account of prod in lib/stages.ts: '123456789012'.",
      "Set region of prod in lib/stages.ts: 'eu-central-1'.",
      "Set alarms of prod in lib/stages.ts: { email: 'on-call@your-company.com' } or { topicArn: 'arn:aws:sns:…' }.",
      'Set spend of prod in lib/stages.ts: { paidChecksPerDay: 5000, smsPerDay: 10_000 }, or null for one of them.',
      "Set backupCopy of prod in lib/stages.ts: { vaultArn: 'arn:aws:backup:…', every: 'day', keepDays: 35 } or 'none'.",
    ]);
    expect(deployFaults(prod, stages)).toEqual([]);
    expect(deployFaults(dev, stages)).toEqual([]);
    expect(deployFaults(parseConfig('eu', STAGES.prod), stages)).toHaveLength(unset.length);
  });

  test('is refused by errors: each fault once, and one that keeps the API stack from being deployed alone', () => {
    const faults = deployFaults(stageConfig('prod'), stages);
    const { data, api } = stageApp(stageConfig('prod'), { faults });
    const messages = [data, api].map(({ node }) =>
      node.metadata
        .filter(({ type }) => /warning|error/.test(type))
        .map(({ type, data: text }) => [type, text]),
    );
    const alone = `The settings of the stage are not complete: ${data.stackName} names what is missing.`;
    expect(messages).toEqual([faults.map((fault) => ['aws:cdk:error', fault]), [['aws:cdk:error', alone]]]);
  });

  test('is refused in the account of prod, by the settings of a stage or by the credentials', () => {
    const sentence = `share the account ${PROD_ACCOUNT}: who deploys one can change the other.`;
    const inProd = stageConfig('dev', { account: PROD_ACCOUNT });
    const shared = [inProd, prod];
    expect(deployFaults(inProd, shared)).toEqual([expect.stringContaining(sentence)]);
    expect(deployFaults(prod, shared)).toEqual([expect.stringContaining(sentence)]);
    expect(deployFaults(dev, stages, PROD_ACCOUNT)).toEqual([expect.stringContaining(sentence)]);
    expect(deployFaults(dev, stages, '444455556666')).toEqual([]);
    expect(deployFaults(prod, stages, PROD_ACCOUNT)).toEqual([]);
  });

  test('may share the account of prod if prod says so', () => {
    const inProd = stageConfig('dev', { account: PROD_ACCOUNT });
    const sharing = stageConfig('prod', { ...complete, sharesAccount: true });
    expect(deployFaults(inProd, [inProd, sharing])).toEqual([]);
    expect(deployFaults(sharing, [inProd, sharing])).toEqual([]);
  });
});
