import { exportsInUse } from '#lib/deploy-order.ts';
import { STAGES, type Stage } from '#lib/stages.ts';
import { COMPLETE, EVERY_OPTION, templatesOf } from './synthesized.ts';

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

/** The deploys that docs/operations.md describes, of settings on which exports and imports depend. */
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
    const { signingKeys, retiredSigningKeys, encryption } = STAGES.prod;
    const own = { signingKeys, retiredSigningKeys, encryption };
    const namesOf = (changes: Partial<Stage>) => {
      const { api, data } = templatesOf('prod', { ...changes, ...own });
      const imports = JSON.stringify(api.toJSON()).match(/"Fn::ImportValue":"[^"]+"/g);
      return { imports: new Set(imports), exports: Object.keys(data.findOutputs('*')).sort() };
    };
    const without = namesOf({ ...COMPLETE, staticEgress: null });
    expect(without.imports.size).toBeGreaterThan(3);
    expect(
      namesOf({ ...EVERY_OPTION, staticEgress: { natGateways: 'one-in-each-zone', zones: 'first-two' } }),
    ).toEqual(without);
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
