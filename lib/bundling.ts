import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';
import { allRoutes } from '#shared/routes.ts';
import { COLD_START_LEVERS, TRIMMINGS } from './bundle-plugins.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where the code of each function lies once it is bundled: one folder a function, and nothing in it but what is deployed. */
export interface Bundles {
  /** The folder of a function, by the name of its file. */
  folderOf(name: string): string;
  /** Bytes of the bundle of a function. */
  readonly sizes: Readonly<Record<string, number>>;
}

interface BundleOptions {
  /** Made anew: `<outDir>/code/<name>/index.mjs`, and the source maps beside it in `<outDir>/maps`. */
  readonly outDir: string;
  /** Files to bundle, by name; every file of functions/ and the canary unless said otherwise. */
  readonly entries?: Readonly<Record<string, string>>;
  readonly plugins?: readonly Plugin[];
}

/** Every Lambda function of the project: name -> file. */
export const functionFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = join(ROOT, 'functions');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return {
    ...Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(folder, file)])),
    canary: join(ROOT, 'lib', 'canary-probe.ts'),
  };
};

const COMPILE = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The CommonJS builds of the SDK are half as large again, and start slower.
  mainFields: ['module', 'main'],
  minify: true,
  // Lambda reads no map; a stack is read with the artefact. The names of its sources are relative, so they are the same everywhere.
  sourcemap: 'external',
  legalComments: 'none',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Bundles every function in one pass of esbuild, the SDK inside. The same sources give the same bytes on every machine, so an
 * unchanged function is not deployed again. It needs no Docker and starts no other process.
 */
export const bundleFunctions = async ({
  outDir,
  entries,
  plugins = [...COLD_START_LEVERS, ...TRIMMINGS],
}: BundleOptions): Promise<Bundles> => {
  const codeDir = resolve(outDir, 'code');
  const { outputFiles } = await build({
    ...COMPILE,
    entryPoints: Object.entries(entries ?? (await functionFiles())).map(([name, file]) => ({
      in: file,
      out: join(name, 'index'),
    })),
    // Nothing is written there: with one place for all, the maps name their sources the same way wherever they end up.
    outdir: join(ROOT, 'bundles'),
    plugins: [...plugins],
  });
  await rm(outDir, { recursive: true, force: true });
  const sizes: Record<string, number> = {};
  for (const file of outputFiles) {
    const name = basename(dirname(file.path));
    const isMap = file.path.endsWith('.map');
    if (!isMap) sizes[name] = file.contents.byteLength;
    await write(isMap ? resolve(outDir, 'maps', `${name}.mjs.map`) : join(codeDir, name, 'index.mjs'), file);
  }
  await copyNeededFiles(codeDir);
  return { folderOf: (name) => join(codeDir, name), sizes };
};

const write = async (path: string, { contents }: OutputFile): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
};

/** Files that a row needs beside its code, from where npm put them. */
const copyNeededFiles = async (codeDir: string): Promise<void> => {
  const { resolve: placeOf } = createRequire(import.meta.url);
  for (const { name, permissions } of allRoutes) {
    for (const [file, module] of Object.entries(permissions.files ?? {})) {
      await mkdir(join(codeDir, name), { recursive: true });
      await copyFile(placeOf(module), join(codeDir, name, file));
    }
  }
};
