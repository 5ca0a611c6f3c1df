import type { Config } from '#lib/config.ts';
import { exportsInUse } from '#lib/deploy-order.ts';
import type { Stage } from '#lib/stages.ts';
import { TOKEN_LIFETIME_SECONDS } from '#shared/access-tokens/rules.ts';
import { COMPLETE, OTHER_OPTIONS, resourcesOf, templatesOf } from './synthesized.ts';

/** A deploy: the settings that it changes, and the stacks in the order in which the CDK CLI deploys them. */
interface Deploy {
  readonly settings: Partial<Stage>;
  readonly stacks: readonly ('data' | 'api')[];
}

/** `npm run deploy`: the data stack goes first, since the API stack imports from it. */
const whole = (settings: Partial<Stage>): Deploy => ({ settings, stacks: ['data', 'api'] });

/** `npm run deploy -- --stage <stage> --api` */
const apiAlone = (settings: Partial<Stage>): Deploy => ({ settings, stacks: ['api'] });

const oldKeyRetired = { signingKeys: ['k2'], retiredSigningKeys: ['k1'] };

/** The deploys that docs/operators/operations.md describes, of settings on which exports and imports depend. */
const DOCUMENTED: Readonly<Record<string, readonly Deploy[]>> = {
  'Rotate the signing key': [
    whole({ signingKeys: ['k1'] }),
    whole({ signingKeys: ['k1', 'k2'] }),
    whole({ signingKeys: ['k2', 'k1'] }),
    whole(oldKeyRetired),
    apiAlone({ signingKeys: ['k2'] }),
    whole({ signingKeys: ['k2'] }),
  ],
  'A compromised signing key': [
    whole({ signingKeys: ['k1'] }),
    whole({ signingKeys: ['k2'], retiredSigningKeys: ['k1'] }),
  ],
  'A rotation that is rolled back after each step': [
    whole({ signingKeys: ['k1'] }),
    whole({ signingKeys: ['k1', 'k2'] }),
    apiAlone({ signingKeys: ['k1'] }),
    whole({ signingKeys: ['k1', 'k2'] }),
    whole({ signingKeys: ['k2', 'k1'] }),
    apiAlone({ signingKeys: ['k1', 'k2'] }),
    whole({ signingKeys: ['k2', 'k1'] }),
    whole(oldKeyRetired),
    apiAlone({ signingKeys: ['k2', 'k1'] }),
  ],
  'Switch the encryption, and back': [
    whole({ encryption: 'aws-owned-keys' }),
    whole({ encryption: 'customer-managed-key' }),
    apiAlone({ encryption: 'aws-owned-keys' }),
    whole({ encryption: 'aws-owned-keys' }),
  ],
  'A restored table, and the own one again': [
    whole({ table: null }),
    whole({ table: 'buyer-linking-prod-restored' }),
    apiAlone({ table: null }),
    whole({ table: null }),
    apiAlone({ table: 'buyer-linking-prod-restored' }),
    whole({ table: 'buyer-linking-prod-restored' }),
    whole({ table: null }),
  ],
};

/** Returns what CloudFormation refuses: an export that a deployed stack still imports cannot be deleted, a missing one not imported. */
const refusalsOf = (deploys: readonly Deploy[]): readonly string[] => {
  const deployed: { data: object; api: object } = { data: {}, api: {} };
  return deploys.flatMap(({ settings, stacks }) => {
    // Of the smaller stage: exports and imports depend on these settings only.
    const templates = templatesOf('dev', settings);
    return stacks.flatMap((stack) => {
      deployed[stack] = templates[stack].toJSON();
      return exportsInUse(deployed, deployed).map(
        (name) => `${stack} stack with ${JSON.stringify(settings)}: ${name}`,
      );
    });
  });
};

describe('each documented deploy after the one before', () => {
  test.each(Object.entries(DOCUMENTED))('drops no export that a deployed stack imports: %s', (_, deploys) => {
    expect(refusalsOf(deploys)).toEqual([]);
  });

  test('neither adds nor drops an export or an import by any other setting, such as an address, a domain or a copy', () => {
    const namesOf = (changes: Partial<Stage>) => {
      const { api, data } = templatesOf('prod', changes);
      const imports = JSON.stringify(api.toJSON()).match(/"Fn::ImportValue":"[^"]+"/g);
      return { imports: new Set(imports), exports: Object.keys(data.findOutputs('*')).sort() };
    };
    const without = namesOf(COMPLETE);
    expect(without.imports.size).toBeGreaterThan(3);
    expect(namesOf(OTHER_OPTIONS)).toEqual(without);
  });

  test('would be refused where a document says to deploy the API stack first and the whole stage is deployed', () => {
    const { 'Rotate the signing key': rotation = [], 'Switch the encryption, and back': encryption = [] } =
      DOCUMENTED;
    const withoutApiAlone = (deploys: readonly Deploy[]) =>
      refusalsOf(deploys.filter(({ stacks }) => stacks.length === 2));
    expect(withoutApiAlone(rotation)).toEqual([expect.stringContaining('SigningKeyk1')]);
    expect(withoutApiAlone(encryption)).toEqual([expect.stringContaining('EncryptionKey')]);
  });
});

type Keys = Partial<Pick<Config, 'signingKeys' | 'retiredSigningKeys'>>;

/** The deploys of docs/operators/operations.md, "Rotate the signing key", each with the minutes to wait after it. */
const ROTATION: readonly (readonly [Keys, number])[] = [
  [{ signingKeys: ['k1'] }, 10],
  [{ signingKeys: ['k1', 'k2'] }, 10],
  [{ signingKeys: ['k2', 'k1'] }, 70],
  [{ signingKeys: ['k2'], retiredSigningKeys: ['k1'] }, 10],
  [{ signingKeys: ['k2'] }, 10],
];

/** Verifiers cache the public keys for this time. */
const CACHE_MINUTES = 5;

/** The time in which the old and the new version of a function serve side by side, with that of a roll-back. */
const DEPLOY_MINUTES = 8;

const labelsIn = (template: unknown): string[] =>
  [...JSON.stringify(template).matchAll(/SigningKey(k\d)/g)].map(([, label = '']) => label);

/** Returns the keys that a deploy gives to the versions of the functions, and those on which its roles grant each action. */
const deployOf = (keys: Keys) => {
  const { api } = templatesOf('dev', keys);
  const only = (type: string, id: string) => {
    const found = Object.entries(resourcesOf(api, type)).filter(([each]) => each.startsWith(id));
    expect(found).toHaveLength(1);
    return found[0]?.[1].Properties;
  };
  const grantsOf = (role: string): string[] =>
    only('AWS::IAM::Role', role)
      .Policies[0].PolicyDocument.Statement.filter(({ Action }: { Action: unknown }) =>
        /"kms:/.test(JSON.stringify(Action)),
      )
      .flatMap(({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
        [Action].flat().flatMap((action) => labelsIn(Resource).map((label) => `${action} ${label}`)),
      );
  const variable = (name: string) => only('AWS::Lambda::Function', name).Environment.Variables.SIGNING_KEYS;
  return {
    signingVersion: labelsIn(variable('verifyotpFunction')),
    publishingVersion: labelsIn(variable('getjwksFunction')),
    signingGrants: grantsOf('verifyotpRole'),
    publishingGrants: grantsOf('getjwksRole'),
  };
};

/**
 * Returns what a rotation would refuse. While a deploy runs, and if it is rolled back, the version before it serves too, with the grants
 * of the deploy: CloudFormation changes a role before the function that depends on it, and rolls it back last.
 */
const faultsOf = (rotation: typeof ROTATION): readonly string[] => {
  let startsAt = 0;
  const deploys = rotation.map(([keys, wait]) => {
    const at = startsAt;
    startsAt += DEPLOY_MINUTES + wait;
    return { ...deployOf(keys), startsAt: at, endsAt: startsAt + DEPLOY_MINUTES };
  });
  const grants = deploys.flatMap(({ signingGrants, publishingGrants }, index) =>
    deploys.slice(Math.max(0, index - 1), index + 1).flatMap(({ signingVersion, publishingVersion }) => [
      ...signingVersion
        .slice(0, 1)
        .filter((label) => !signingGrants.includes(`kms:Sign ${label}`))
        .map((label) => `deploy ${index}: a sign-in with ${label}`),
      ...publishingVersion
        .filter((label) => !publishingGrants.includes(`kms:GetPublicKey ${label}`))
        .map((label) => `deploy ${index}: a read of the public key ${label}`),
    ]),
  );
  // A token meets public keys that a verifier read up to five minutes before it was signed, or as long as it is valid.
  const tokens = deploys.flatMap(({ signingVersion: [label = ''], ...signing }, index) =>
    deploys
      .filter(
        ({ startsAt: from, endsAt: to }) =>
          to + CACHE_MINUTES >= signing.startsAt && from < signing.endsAt + TOKEN_LIFETIME_SECONDS / 60,
      )
      .filter(({ publishingVersion }) => !publishingVersion.includes(label))
      .map(() => `deploy ${index}: a verification of a token of ${label}`),
  );
  return [...grants, ...tokens];
};

describe('a rotation of the signing key', () => {
  test('loses no sign-in and no verification while two versions of a function and the grants change', () => {
    expect(faultsOf(ROTATION)).toEqual([]);
  });

  test('would refuse requests of the version that still serves if a key lost its grants with the deploy that removes it', () => {
    const withoutRetirement = ROTATION.filter(([{ retiredSigningKeys }]) => retiredSigningKeys === undefined);
    expect(faultsOf(withoutRetirement)).toEqual(['deploy 3: a read of the public key k1']);
  });

  test.each([
    ['published before it signs', ROTATION.filter((_, index) => index !== 1), 'k2'],
    [
      'published until its last token has ended',
      ROTATION.map(([keys, wait]): (typeof ROTATION)[number] => [keys, Math.min(wait, 50)]),
      'k1',
    ],
  ])('would refuse valid tokens if a key were not %s', (_, rotation, label) => {
    const faults = faultsOf(rotation);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.filter((fault) => !fault.endsWith(`a token of ${label}`))).toEqual([]);
  });
});
