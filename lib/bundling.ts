import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { PLUGINS } from './bundle-plugins.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The bundled functions: one folder for each, which holds the deployed files and nothing else. */
export interface Bundles {
  /** Returns the folder of a function, by the name of its file. */
  folderOf(name: string): string;
  /** Bundle size in bytes, by function. */
  readonly sizes: Readonly<Record<string, number>>;
}

interface BundleOptions {
  /** Created anew. Holds `code/<name>/index.mjs` and, not deployed, `maps/<name>.mjs.map`. */
  readonly outDir: string;
  /** Files to bundle, by name. The default is every file of functions/ and the canary. */
  readonly entries?: Readonly<Record<string, string>>;
  readonly plugins?: readonly Plugin[];
}

/** Returns the file of every Lambda function, by name. */
export const functionFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = join(ROOT, 'functions');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return {
    ...Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(folder, file)])),
    canary: join(ROOT, 'lib', 'canary', 'probe.ts'),
  };
};

const COMPILE = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The CommonJS builds of the SDK are 1.5 times as large and start slower.
  mainFields: ['module', 'main'],
  minify: true,
  // The maps are not deployed: reading them costs an eighth of a cold start. Their source names are relative, so every machine makes the same ones.
  sourcemap: 'external',
  legalComments: 'none',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Bundles every function, the AWS SDK included, in one esbuild call. The same sources give the same bytes on every machine, so an
 * unchanged function is not deployed again.
 */
export const bundleFunctions = async ({
  outDir,
  entries,
  plugins = PLUGINS,
}: BundleOptions): Promise<Bundles> => {
  const codeDir = resolve(outDir, 'code');
  const { outputFiles } = await build({
    ...COMPILE,
    entryPoints: Object.entries(entries ?? (await functionFiles())).map(([name, file]) => ({
      in: file,
      out: join(name, 'index'),
    })),
    // Nothing is written to this folder. Source names in the maps are relative to it, so they do not depend on `outDir`.
    outdir: join(ROOT, 'bundles'),
    plugins: [...plugins],
  });
  await rm(outDir, { recursive: true, force: true });
  const sizes: Record<string, number> = {};
  for (const { path, contents } of outputFiles) {
    const name = basename(dirname(path));
    const isMap = path.endsWith('.map');
    if (!isMap) sizes[name] = contents.byteLength;
    const file = isMap ? resolve(outDir, 'maps', `${name}.mjs.map`) : join(codeDir, name, 'index.mjs');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  return { folderOf: (name) => join(codeDir, name), sizes };
};
