import { exportsInUse } from '#lib/deploy-order.ts';
import type { Stage } from '#lib/stages.ts';
import { EVERY_OPTION, templatesOf } from './synthesized.ts';

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

const domain = { name: 'api.example.com', certificateArn: 'arn', defaultEndpoint: 'open' } as const;

/** The deploys that docs/operations.md and docs/deploy.md describe. */
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
  'Fixed addresses for providers, in one zone and in two': [
    whole({ staticEgress: null }),
    whole({ staticEgress: { natGateways: 'one', zones: 'first-two' } }),
    whole({ staticEgress: { natGateways: 'one-in-each-zone', zones: 'first-two' } }),
    whole({ staticEgress: { natGateways: 'one', zones: 'first-two' } }),
  ],
  'A copy of the hash secret in a second Region, and none': [
    whole({ hashSecretReplica: null }),
    whole({ hashSecretReplica: 'eu-west-1' }),
    whole({ hashSecretReplica: null }),
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
  'A copy of the table elsewhere, and none': [
    whole({ backupCopy: 'none' }),
    whole({ backupCopy: EVERY_OPTION.backupCopy }),
    whole({ backupCopy: 'none' }),
  ],
  'Custom domain': [
    whole({ domain: null, issuers: ['default-endpoint'] }),
    whole({ domain, issuers: ['default-endpoint', 'domain'] }),
    whole({ domain, issuers: ['domain', 'default-endpoint'] }),
    whole({ domain: { ...domain, defaultEndpoint: 'closed' }, issuers: ['domain'] }),
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

  test('would be refused where a document says to deploy the API stack first and the whole stage is deployed', () => {
    const { 'Rotate the signing key': rotation = [], 'Switch the encryption, and back': encryption = [] } =
      DOCUMENTED;
    const withoutApiAlone = (deploys: readonly Deploy[]) =>
      refusalsOf(deploys.filter(({ stacks }) => stacks.length === 2));
    expect(withoutApiAlone(rotation)).toEqual([expect.stringContaining('SigningKeyk1')]);
    expect(withoutApiAlone(encryption)).toEqual([expect.stringContaining('EncryptionKey')]);
  });
});
