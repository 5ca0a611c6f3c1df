/** The client as the files that /docs serves: one module and its types for TypeScript, and the files for Python as they are. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import client from '../../client/package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = 'client/src/index.ts';

const FIRST_LINE = `// ${client.name} ${client.version}, Apache-2.0`;

/** Returns the license of a package that the module contains: it must be in every copy. */
const licenseOf = async (packageName: string): Promise<string> => {
  const text = await readFile(`${ROOT}node_modules/${packageName}/LICENSE`, 'utf8');
  return [`Contains ${packageName}:`, '', ...text.trim().split('\n')]
    .map((line) => `// ${line}`.trimEnd())
    .join('\n');
};

/** Bundles the client and openapi-fetch. The same sources give the same bytes on every machine. */
const clientModule = async (): Promise<string> => {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    // client/node_modules may have it too.
    alias: { 'openapi-fetch': fileURLToPath(import.meta.resolve('openapi-fetch')) },
    banner: { js: FIRST_LINE },
    footer: { js: await licenseOf('openapi-fetch') },
    logLevel: 'silent',
  });
  return outputFiles.map(({ text }) => text).join('');
};

/** Bundles the types of the client. `npm run typecheck` has checked them. */
const clientTypes = async (): Promise<string> => {
  // It loads the TypeScript compiler, which no other file needs.
  const { generateDtsBundle } = await import('dts-bundle-generator');
  const [text] = generateDtsBundle(
    [{ filePath: ROOT + ENTRY, output: { noBanner: true, exportReferencedTypes: false } }],
    { preferredConfigPath: `${ROOT}client/tsconfig.types.json` },
  );
  return `${FIRST_LINE}\n${text}`;
};

/** Writes the client, and the Python programs as they are, into the folder of the built site. */
export const writeClients = async (folder: string): Promise<void> => {
  await writeFile(join(folder, 'buyer-linking-client.mjs'), await clientModule());
  await writeFile(join(folder, 'buyer-linking-client.d.mts'), await clientTypes());
  for (const file of ['buyer_linking.py', 'bring_customers.py'])
    await copyFile(`${ROOT}client/python/${file}`, join(folder, file));
};
