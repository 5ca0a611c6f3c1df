import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { GetPublicKeyCommand, type KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { Config } from '#lib/config.ts';
import { accessTokenClaims, TOKEN_LIFETIME_SECONDS } from '#shared/access-tokens/rules.ts';
import type { Jwks } from '#shared/access-tokens/schema.ts';
import { kmsSigner } from '#shared/access-tokens/signer.ts';
import { resourcesOf, templatesOf } from './synthesized.ts';

type Keys = Partial<Pick<Config, 'signingKeys' | 'retiredSigningKeys'>>;

/** The deploys of docs/operations.md, "Rotate the signing key", each with the minutes to wait after it. */
const ROTATION: readonly (readonly [Keys, number])[] = [
  [{ signingKeys: ['k1'] }, 10],
  [{ signingKeys: ['k1', 'k2'] }, 10],
  [{ signingKeys: ['k2', 'k1'] }, 70],
  [{ signingKeys: ['k2'], retiredSigningKeys: ['k1'] }, 10],
  [{ signingKeys: ['k2'] }, 10],
];

const WITHOUT_RETIREMENT = ROTATION.filter(([{ retiredSigningKeys }]) => retiredSigningKeys === undefined);

/** Verifiers cache the public keys for this time. */
const CACHE_MINUTES = 5;

/** The time in which the old and the new version of a function serve side by side. */
const CANARY_MINUTES = 5;

const EPOCH_MS = Date.UTC(2026, 0, 1);

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

const privateKeys: Readonly<Record<string, KeyObject>> = Object.fromEntries(
  ['k1', 'k2'].map((label) => [label, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey]),
);

/** Returns a KMS that allows what the role of a function grants at the time of the call. */
const kmsWith = (grants: () => readonly string[]) => ({
  send: async (command: object) => {
    const isSign = command instanceof SignCommand;
    const { KeyId: label = '', Message = Buffer.of() } = (command as SignCommand).input;
    const privateKey = privateKeys[label];
    if (!grants().includes(`kms:${isSign ? 'Sign' : 'GetPublicKey'} ${label}`) || privateKey === undefined) {
      throw new Error(`AccessDenied: ${command.constructor.name} ${label}`);
    }
    expect(isSign || command instanceof GetPublicKeyCommand).toBe(true);
    return isSign
      ? { Signature: sign('sha256', Message, privateKey) }
      : { PublicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }) };
  },
});

/** Runs a rotation under load, and returns what failed: sign-ins, reads of the public keys, and verifications of valid tokens. */
const failuresOf = async (rotation: typeof ROTATION): Promise<string[]> => {
  const failures: string[] = [];
  const deploys = rotation.map(([keys, wait]) => ({ ...deployOf(keys), wait }));
  let roles = deploys[0] as (typeof deploys)[number];
  let minute = 0;
  let tokens: { readonly token: string; readonly signedAt: number }[] = [];
  let published: { readonly jwks: Jwks; readonly fetchedAt: number }[] = [];
  const signer = (keyIds: readonly string[], grants: () => readonly string[]) =>
    kmsSigner(keyIds as [string, ...string[]], kmsWith(grants) as unknown as KMSClient);
  // One warm container for each version; every minute also starts new ones.
  const containersOf = ({ signingVersion, publishingVersion }: (typeof deploys)[number]) => ({
    signing: signer(signingVersion, () => roles.signingGrants),
    publishing: signer(publishingVersion, () => roles.publishingGrants),
  });
  const warm = new Map(deploys.map((deploy) => [deploy, containersOf(deploy)]));

  const runMinute = async (versions: readonly (typeof deploys)[number][]): Promise<void> => {
    for (const version of versions) {
      const verifiedAt = EPOCH_MS / 1000 + minute * 60;
      const claims = accessTokenClaims({
        issuer: 'issuer',
        audience: 'sel_1',
        buyerId: 'byr_1',
        phone: '+989120000000',
        verifiedAt,
      });
      for (const { signing, publishing } of [
        containersOf(version),
        warm.get(version) ?? containersOf(version),
      ]) {
        await signing
          .sign(claims)
          .then((token) => tokens.push({ token, signedAt: minute }))
          .catch((error: Error) => failures.push(`sign-in: ${error.message}`));
        await publishing
          .publicKeys()
          .then((jwks) => published.push({ jwks, fetchedAt: minute }))
          .catch((error: Error) => failures.push(`public keys: ${error.message}`));
      }
    }
    tokens = tokens.filter(({ signedAt }) => (minute - signedAt) * 60 < TOKEN_LIFETIME_SECONDS);
    published = published.filter(({ fetchedAt }) => minute - fetchedAt <= CACHE_MINUTES);
    for (const { jwks } of [published[0], published.at(-1)].filter((each) => each !== undefined)) {
      const currentDate = new Date(EPOCH_MS + minute * 60_000);
      for (const { token } of [tokens[0], tokens.at(-1)].filter((each) => each !== undefined)) {
        await jwtVerify(token, createLocalJWKSet(jwks as never), { currentDate }).catch((error: Error) =>
          failures.push(`verification: ${error.message}`),
        );
      }
    }
    minute += 1;
  };
  const runMinutes = async (count: number, versions: readonly (typeof deploys)[number][]): Promise<void> => {
    for (let each = 0; each < count; each += 1) await runMinute(versions);
  };

  for (const [index, deploy] of deploys.entries()) {
    const before = deploys[index - 1];
    // CloudFormation changes a role before the function that depends on it; then the canary; then all requests.
    roles = deploy;
    if (before !== undefined) {
      await runMinutes(1, [before]);
      await runMinutes(CANARY_MINUTES, [before, deploy]);
      // CodeDeploy brings back the version before, and the roles are rolled back last.
      await runMinutes(1, [deploy]);
      await runMinutes(1, [before]);
    }
    await runMinutes(deploy.wait, [deploy]);
  }
  return failures;
};

describe('a rotation of the signing key', () => {
  test('loses no sign-in and no verification while two versions of a function and the grants change', async () => {
    expect(await failuresOf(ROTATION)).toEqual([]);
  });

  test('would refuse requests of the version that still serves if a key lost its grants with the deploy that removes it', async () => {
    expect(await failuresOf(WITHOUT_RETIREMENT)).toContain(
      'public keys: AccessDenied: GetPublicKeyCommand k1',
    );
  });
});
