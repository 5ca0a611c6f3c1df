// What the bundles hold, which `npm run check` builds with their sizes: test/lib/bundles.budget.ts.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Bundles, bundleFunctions } from '#lib/bundling.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-builds-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the build of the bundles fails with a warning of esbuild', async () => {
  const entry = join(folder, 'warns.js');
  await writeFile(entry, 'export const isText = typeof isText === "text";');
  const build = bundleFunctions({ outDir: join(folder, 'warns'), entries: { entry }, plugins: [] });
  await expect(build).rejects.toThrow('"typeof" operator will never evaluate to "text"');
});

describe('the build of the bundles fails with the name of a rewrite', () => {
  const CONFIG_LOADER = '@smithy/core/dist-es/submodules/config/node-config-provider/configLoader.js';
  const sdk = new URL('../../node_modules/', import.meta.url);

  /** Bundles a function that imports these files in place of the SDK. */
  const buildOf = async (files: Readonly<Record<string, string>>): Promise<Bundles> => {
    const project = await mkdtemp(join(folder, 'sdk-'));
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), source);
    }
    const entry = join(project, 'entry.js');
    const exports = Object.keys(files).map((path) => `export * from './${path}';`);
    await writeFile(entry, exports.join('\n'));
    return bundleFunctions({ outDir: join(project, 'out'), entries: { entry } });
  };

  /** The config loader without its imports, which the function of the test would lack. */
  const loader = async (): Promise<string> =>
    (await readFile(new URL(CONFIG_LOADER, sdk), 'utf8')).replaceAll(/^import .*$/gm, '');

  test('whose text an SDK file no longer contains', async () => {
    const renamed = (await loader()).replace('fromSharedConfigFiles(', 'fromProfiles(');
    await expect(buildOf({ [CONFIG_LOADER]: renamed })).rejects.toThrow(
      `${CONFIG_LOADER}: /fromSharedConfigFiles\\(.*?\\), /g matches 0 times in place of 1`,
    );
  });

  test('whose text an SDK file contains once more', async () => {
    const doubled = await loader();
    await expect(buildOf({ [CONFIG_LOADER]: `${doubled}\n${doubled}` })).rejects.toThrow(
      'matches 2 times in place of 1',
    );
  });

  test('whose module a client no longer has', async () => {
    const build = buildOf({ '@aws-sdk/client-dynamodb/dist-es/index.js': 'export const client = 1;' });
    const missing = [
      '@aws-sdk/credential-provider-node/dist-es/index.js',
      CONFIG_LOADER,
      '@smithy/core/dist-es/submodules/event-streams/index.js',
    ];
    await expect(build).rejects.toMatchObject({
      errors: missing.map((name) => ({
        text: `${name} matches 0 modules in place of 1: adapt or remove its rewrite`,
      })),
    });
  });

  test('whose module is in a function that does not need it', async () => {
    const build = buildOf({ 'shared/access.ts': 'export const accessRows = [];' });
    await expect(build).rejects.toThrow('shared/access.ts matches 1 modules in place of 0');
  });
});
