import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { accessRows } from '#shared/access.ts';
import { authorizer } from '#shared/api-keys/authorizer.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The bundled functions: one folder for each, which holds the deployed files and nothing else. */
export interface Bundles {
  /** Returns the folder of a function, by the name of its file. */
  folderOf(name: string): string;
}

interface BundleOptions {
  /** Created anew. Holds `code/<name>/index.mjs` and, not deployed, `maps/<name>.mjs.map`. */
  readonly outDir: string;
  /** Files to bundle, by name. The default is every file of functions/, the canary and the check of a deploy. */
  readonly entries?: Readonly<Record<string, string>>;
  readonly plugins?: readonly Plugin[];
}

/** Returns the file of every Lambda function, by name. */
export const functionFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = join(ROOT, 'functions');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  return {
    ...Object.fromEntries(files.map((file) => [basename(file, '.ts'), join(folder, file)])),
    canary: join(ROOT, 'probe', 'canary.ts'),
    'deploy-check': join(ROOT, 'probe', 'check-versions.ts'),
  };
};

/**
 * Loads the modules of Node without their ESM namespaces. Building a namespace calls every getter: `WebSocket` of node:http loads undici and
 * takes 30 ms of every cold start, others of node:process and node:fs take 3 ms. Here a getter is called on use: esbuild reads CommonJS so.
 */
const builtinsWithoutNamespace: Plugin = {
  name: 'builtins-without-namespace',
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`);
    onResolve({ filter }, ({ path, kind, namespace }) => ({
      path: path.replace(/^(?:node:)?/, 'node:'),
      // Of a dynamic import nothing tells which names it needs.
      namespace: namespace === 'builtin' || kind === 'dynamic-import' ? 'builtin-on-use' : 'builtin',
      sideEffects: false,
    }));
    onLoad({ filter: /.*/, namespace: 'builtin-on-use' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const all = Object.getOwnPropertyDescriptors(process.getBuiltinModule(path) ?? {});
      const onUse = Object.keys(all).filter((name) => all[name]?.get);
      const once = Object.keys(all).filter((name) => !all[name]?.get);
      const contents = [
        `const $module = process.getBuiltinModule('${path}'), $read = (name) => $module[name];`,
        `export { $module as default }; export { ${onUse} } from '${path}';`,
        ...once.map((name) => `export const ${name} = /* @__PURE__ */ $read('${name}');`),
      ];
      return { contents: contents.join('\n') };
    });
  },
};

/** What a build of bundles holds. */
interface BuildContent {
  readonly hasSdk: boolean;
  readonly functions: readonly string[];
}

/** What a function needs of a module in Lambda. */
interface Rewrite {
  /** How many modules of a build it must match: the build fails otherwise, since an SDK update moved or split the module. */
  readonly modules: (content: BuildContent) => number;
  /** Returns the new source. Throws if the text that it replaces is not there once. */
  readonly rewrite: (source: string) => string;
}

const onceWithSdk = ({ hasSdk }: BuildContent): number => Number(hasSdk);

/** Removes what a pattern matches. Throws unless it matches once. */
const without = (source: string, pattern: RegExp): string => {
  const found = [...source.matchAll(pattern)].length;
  if (found !== 1) throw new Error(`${pattern} matches ${found} times in place of 1`);
  return source.replace(pattern, '');
};

/**
 * The rewrites by the end of the path of their modules: docs/contributors/adr/0007-bundles.md has what each saves. Where all of a module is replaced, an
 * export that the SDK renames fails the build, since its importers no longer find it.
 */
const REWRITES: Readonly<Record<string, Rewrite>> = {
  // Its value in place of the route table, which holds every schema.
  'shared/access.ts': {
    modules: ({ functions }) => Number(functions.includes(authorizer.name)),
    rewrite: () => `export const accessRows = ${JSON.stringify(accessRows)};`,
  },
  // Lambda passes credentials in the environment and has no profiles, SSO or metadata service.
  '@aws-sdk/credential-provider-node/dist-es/index.js': {
    modules: onceWithSdk,
    rewrite: () => `export const defaultProvider = () => async () => ({
      accessKeyId: process.env.AWS_ACCESS_KEY_ID,
      secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
      sessionToken: process.env.AWS_SESSION_TOKEN,
    });`,
  },
  // An option is in the environment or has its default: Lambda has no files of profiles, which each client would try to read.
  '@smithy/core/dist-es/submodules/config/node-config-provider/configLoader.js': {
    modules: onceWithSdk,
    rewrite: (source) => without(source, /fromSharedConfigFiles\(.*?\), /g),
  },
  // No operation that the functions call uses event streams. The client of Lambda asks for their settings, and an operation for the provider.
  '@smithy/core/dist-es/submodules/event-streams/index.js': {
    modules: onceWithSdk,
    rewrite: () =>
      `export const resolveEventStreamSerdeConfig = (config) => config, eventStreamSerdeProvider = () => {
        throw new Error('event streams are not part of this bundle');
      };`,
  },
};

const contentOf = ({ inputs, outputs }: Metafile): BuildContent => ({
  hasSdk: Object.keys(inputs).some((path) => path.includes('@aws-sdk/client-')),
  functions: Object.keys(outputs).map((path) => basename(dirname(path))),
});

/** Applies the rewrites. Fails the build with the name of one that does not match as often as it must. */
const neededOnly: Plugin = {
  name: 'needed-only',
  setup({ initialOptions, onLoad, onEnd }) {
    initialOptions.metafile = true;
    const matches = new Map<string, number>();
    for (const [end, { rewrite }] of Object.entries(REWRITES)) {
      onLoad({ filter: new RegExp(`${end.replaceAll('/', '.')}$`) }, async ({ path }) => {
        matches.set(end, (matches.get(end) ?? 0) + 1);
        const source = await readFile(path, 'utf8');
        try {
          return { contents: rewrite(source), loader: 'js' };
        } catch (error) {
          return { errors: [{ text: `${end}: ${(error as Error).message}` }] };
        }
      });
    }
    onEnd(({ metafile }) => {
      if (metafile === undefined) return;
      const content = contentOf(metafile);
      const errors = Object.entries(REWRITES).flatMap(([end, { modules }]) => {
        const [found, expected] = [matches.get(end) ?? 0, modules(content)];
        const text = `${end} matches ${found} modules in place of ${expected}: adapt or remove its rewrite`;
        return found === expected ? [] : [{ text }];
      });
      return { errors };
    });
  },
};

/**
 * Bundles every function, the AWS SDK included, in one esbuild call. The same sources give the same bytes on every machine, so an
 * unchanged function is not deployed again.
 */
export const bundleFunctions = async ({
  outDir,
  entries,
  plugins = [builtinsWithoutNamespace, neededOnly],
}: BundleOptions): Promise<Bundles> => {
  const codeDir = resolve(outDir, 'code');
  const { outputFiles, warnings } = await build({
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
    // Its errors are in the one that is thrown.
    logLevel: 'silent',
    entryPoints: Object.entries(entries ?? (await functionFiles())).map(([name, file]) => ({
      in: file,
      out: join(name, 'index'),
    })),
    // Nothing is written to this folder. Source names in the maps are relative to it, so they do not depend on `outDir`.
    outdir: join(ROOT, 'bundles'),
    plugins: [...plugins],
  });
  if (warnings.length > 0) throw new Error(`The bundles: ${warnings.map(({ text }) => text).join('; ')}`);
  await rm(outDir, { recursive: true, force: true });
  for (const { path, contents } of outputFiles) {
    const name = basename(dirname(path));
    const isMap = path.endsWith('.map');
    const file = isMap ? resolve(outDir, 'maps', `${name}.mjs.map`) : join(codeDir, name, 'index.mjs');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  return { folderOf: (name) => join(codeDir, name) };
};
