import { readFile } from 'node:fs/promises';
import type { OnLoadArgs, Plugin } from 'esbuild';

/**
 * The esbuild plugins that keep code out of a bundle which Lambda never runs: docs/adr/0007-bundles.md. An SDK update that moves a replaced
 * module makes the bundle larger, and the size budget of test/lib/bundling.test.ts then fails.
 */

/** Replaces the source of the modules whose path matches `filter`. */
const replaceModule = (
  name: string,
  filter: RegExp,
  rewrite: (source: string, args: OnLoadArgs) => string,
): Plugin => ({
  name,
  setup(build) {
    build.onLoad({ filter }, async (args) => ({
      contents: rewrite(await readFile(args.path, 'utf8'), args),
      loader: 'js',
    }));
  },
});

/**
 * Loads node:http without its ESM namespace. Building the namespace calls the lazy `WebSocket` getter, which loads undici and takes
 * 30 ms of every cold start; the module alone takes 3 ms. An import of an export that is not listed here fails the build.
 */
const builtinsWithoutNamespace: Plugin = {
  name: 'builtins-without-namespace',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?https?$/ }, ({ path }) => ({
      path: path.startsWith('node:') ? path : `node:${path}`,
      namespace: 'builtin',
    }));
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: [
        `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`,
        'export default builtin;',
        'export const { Agent, request, STATUS_CODES } = builtin;',
      ].join('\n'),
    }));
  },
};

/** Replaces the chain of credential providers: Lambda passes credentials in the environment and has no profiles, SSO or metadata service. */
const credentialsFromEnvironment = replaceModule(
  'credentials-from-environment',
  /[\\/]@aws-sdk[\\/]credential-provider-node[\\/]dist-es[\\/]index\.js$/,
  () => `export const defaultProvider = () => async () => ({
      accessKeyId: process.env.AWS_ACCESS_KEY_ID,
      secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
      sessionToken: process.env.AWS_SESSION_TOKEN,
    });`,
);

/** Removes event streams: no operation that the functions call uses them. */
const noEventStreams = replaceModule(
  'no-event-streams',
  /[\\/]@smithy[\\/]core[\\/]dist-es[\\/]submodules[\\/]event-streams[\\/]index\.js$/,
  () => `throw new Error('event streams are not part of this bundle');`,
);

/** The SDK errors that the code checks with `instanceof`. Every other error is an instance of its client's base error, with its own name. */
export const NAMED_ERRORS = [
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
] as const;

const REGISTRATION = /^n0_registry\.registerError\((\w+)\$, \w+\);$/gm;

/** Removes the registration of the other error classes: a client registers one for each error of its service, 50 for KMS. Throws if there is none. */
const namedErrorsOnly = replaceModule(
  'named-errors-only',
  /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/,
  (source, { path }) => {
    const kept = source.replaceAll(REGISTRATION, (line, error: string) =>
      (NAMED_ERRORS as readonly string[]).includes(error) ? line : '',
    );
    if (kept === source)
      throw new Error(`${path} registers no errors: the SDK has changed, adapt or remove named-errors-only`);
    return kept;
  },
);

/** The plugins that a cold start shows, the one that saves most time first. */
export const PLUGINS: readonly Plugin[] = [
  builtinsWithoutNamespace,
  credentialsFromEnvironment,
  noEventStreams,
  namedErrorsOnly,
];
