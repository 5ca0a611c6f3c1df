import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';

const REGIONS = [
  'us-east-1',
  'eu-central-1',
  'me-central-1',
  'ap-southeast-7',
  'us-gov-west-1',
  'cn-north-1',
];

/** Returns the endpoint of each client in each Region, as the SDK resolves it for a call. */
const ENTRY = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { KMSClient } from '@aws-sdk/client-kms';
  import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
  const parameters = { UseDualStack: false, UseFIPS: false };
  export const handler = (regions, Endpoint) =>
    [DynamoDBClient, KMSClient, SecretsManagerClient].flatMap((Client) =>
      regions.map((Region) => new Client({ region: Region }).config.endpointProvider({ ...parameters, Region, Endpoint }).url.href),
    );`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-plugins-'));
});
afterAll(() => rm(folder, { recursive: true }));

type EndpointsOf = (regions: readonly string[], endpoint?: string) => string[];

const endpointsWith = async (name: string, plugins: readonly Plugin[]): Promise<EndpointsOf> => {
  // Inside the project, so that the SDK is found.
  const entry = join(import.meta.dirname, `.entry-${process.pid}-${name}.mjs`);
  await writeFile(entry, ENTRY);
  try {
    const bundles = await bundleFunctions({
      outDir: join(folder, name),
      entries: { [name]: entry },
      plugins,
    });
    return (await import(join(bundles.folderOf(name), 'index.mjs'))).handler;
  } finally {
    await rm(entry);
  }
};

describe('the endpoint of a bundled client', () => {
  test('is the endpoint of the unchanged SDK, in every Region and with an endpoint of its own', async () => {
    const bundled = await endpointsWith('bundled', [...COLD_START_LEVERS, ...TRIMMINGS]);
    const unchanged = await endpointsWith('unchanged', []);
    expect(bundled(REGIONS)).toEqual(unchanged(REGIONS));
    expect(bundled(REGIONS)).toContain('https://dynamodb.eu-central-1.amazonaws.com/');
    expect(bundled(['eu-central-1'], 'http://127.0.0.1:8000')).toEqual(
      unchanged(['eu-central-1'], 'http://127.0.0.1:8000'),
    );
  });
});
