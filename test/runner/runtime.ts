import { readFileSync, statSync } from 'node:fs';
import { createRequire, type ResolveFnOutput, registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url).href;
const require = createRequire(import.meta.url);
/** The code of a file without its types, which takes the most time of loading it. */
const sources = new Map<string, string>();
/** Where the imports of a file lead, which Node looks for on the disk each time. */
const resolutions = new Map<string, ResolveFnOutput>();
let testFiles = 0;

const isOurs = (url: string) =>
  url.startsWith(root) && url.endsWith('.ts') && !url.includes('/node_modules/');

const sourceOf = (url: string) => {
  const path = fileURLToPath(url);
  // A run in watch mode finds a file changed.
  const version = `${path} ${statSync(path).mtimeMs}`;
  const source = sources.get(version) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'));
  sources.set(version, source);
  return source;
};

// The number of the test file in the query makes each module of the project a new one for each test file.
registerHooks({
  resolve(specifier, context, next) {
    const [parent = ''] = context.parentURL?.split('?') ?? [];
    const key = [parent, specifier, ...context.conditions].join(' ');
    const resolved = resolutions.get(key) ?? next(specifier, context);
    if (isOurs(parent)) resolutions.set(key, { ...resolved, shortCircuit: true });
    return isOurs(resolved.url) ? { ...resolved, url: `${resolved.url}?${testFiles}` } : resolved;
  },
  load(url, context, next) {
    const [file = url, number] = url.split('?');
    return number !== undefined && isOurs(file)
      ? { format: 'module', source: sourceOf(file), shortCircuit: true }
      : next(url, context);
  },
});

/**
 * The runtime of jest without a realm for each test file: packages are loaded once per worker, as Node loads them, and the modules of
 * the project anew for each test file.
 */
export default class NativeRuntime {
  constructor() {
    testFiles += 1;
  }

  requireInternalModule(path: string) {
    // It holds the state of one test file.
    delete require.cache[path];
    return require(path);
  }

  requireModule(path: string) {
    return require(path);
  }

  async unstable_importModule(path: string) {
    await import(pathToFileURL(path).href);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}

  getSourceMaps() {
    return null;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }
}
