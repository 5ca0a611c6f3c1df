import { readFile } from 'node:fs/promises';
import type { OnLoadArgs, OnLoadResult, Plugin } from 'esbuild';

/**
 * What is taken out of a bundle, each because a Lambda function of ours never reaches it. docs/adr/0007-bundles.md has the measurements.
 * Each plugin throws while bundling if what it replaces is no longer there, so that an SDK update cannot undo it unnoticed.
 */

/** Replaces the source of one module, wherever it is resolved to. */
const replaceModule = (
  name: string,
  filter: RegExp,
  rewrite: (source: string, args: OnLoadArgs) => string,
): Plugin => ({
  name,
  setup(build) {
    build.onLoad({ filter }, async (args): Promise<OnLoadResult> => {
      const source = await readFile(args.path, 'utf8');
      return { contents: rewrite(source, args), loader: 'js' };
    });
  },
});

/**
 * Building the ESM namespace of node:http touches its lazy `WebSocket` getter, which loads undici: 30 ms of every cold start.
 * The module itself, asked for directly, costs 3 ms. An export that is not listed here fails the build.
 */
export const builtinsWithoutNamespace: Plugin = {
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

/** Lambda puts a function's credentials into its environment; profiles, SSO, metadata services and the rest of the chain are not there. */
export const credentialsFromEnvironment: Plugin = {
  name: 'credentials-from-environment',
  setup(build) {
    build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: 'environment',
      namespace: 'credentials',
    }));
    build.onLoad({ filter: /.*/, namespace: 'credentials' }, () => ({
      contents: `export const defaultProvider = () => async () => ({
        accessKeyId: process.env.AWS_ACCESS_KEY_ID,
        secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
        sessionToken: process.env.AWS_SESSION_TOKEN,
      });`,
    }));
  },
};

/** No `~/.aws/config` exists in Lambda: the look for it is answered as the SDK answers a file that is not there. */
const noSharedConfigFiles = replaceModule(
  'no-shared-config-files',
  /[\\/]@smithy[\\/]core[\\/]dist-es[\\/].*[\\/]fromSharedConfigFiles\.js$/,
  () => `import { CredentialsProviderError } from '../property-provider/CredentialsProviderError';
    export const fromSharedConfigFiles = () => async () => {
      throw new CredentialsProviderError('there are no shared config files');
    };`,
);

/** None of our operations streams events, and the SDK loads this only for those that do. */
const noEventStreams = replaceModule(
  'no-event-streams',
  /[\\/]@smithy[\\/]core[\\/]dist-es[\\/]submodules[\\/]event-streams[\\/]index\.js$/,
  () => `throw new Error('this bundle holds no event streams');`,
);

/** Endpoint discovery is for Timestream and the like; no DynamoDB command of this SDK uses it, but the client carries it. */
const noEndpointDiscovery = replaceModule(
  'no-endpoint-discovery',
  /[\\/]@aws-sdk[\\/]middleware-endpoint-discovery[\\/]dist-es[\\/]index\.js$/,
  () => `export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
      environmentVariableSelector: () => undefined, configFileSelector: () => undefined, default: undefined };
    export const resolveEndpointDiscoveryConfig = (config) => config;`,
);

/** A client's package.json is in the bundle for its version alone. */
const versionOnly = replaceModule(
  'version-only',
  /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/,
  (source) => `export default ${JSON.stringify({ version: JSON.parse(source).version })};`,
);

/** The errors of the SDK that our code tells apart by class; every other one arrives as its client's base error, with its name. */
export const NAMED_ERRORS = ['ConditionalCheckFailedException', 'TransactionCanceledException'] as const;

const REGISTRATION = /^n0_registry\.registerError\((\w+)\$, \w+\);$/gm;

/** A client registers a class for each error its service knows, used or not: 50 of them in KMS. */
const namedErrorsOnly = replaceModule(
  'named-errors-only',
  /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/,
  (source, { path }) => {
    const kept = source.replaceAll(REGISTRATION, (line, error: string) =>
      (NAMED_ERRORS as readonly string[]).includes(error) ? line : '',
    );
    if (kept === source) throw new Error(`no error registrations in ${path}: has the SDK changed its form?`);
    return kept;
  },
);

/** What cuts a cold start most. */
export const COLD_START_LEVERS: readonly Plugin[] = [builtinsWithoutNamespace, credentialsFromEnvironment];

/** What else is never reached. */
export const TRIMMINGS: readonly Plugin[] = [
  noSharedConfigFiles,
  noEventStreams,
  noEndpointDiscovery,
  versionOnly,
  namedErrorsOnly,
];
