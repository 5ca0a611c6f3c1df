import { readFile } from 'node:fs/promises';
import type { OnLoadArgs, Plugin } from 'esbuild';

/**
 * The esbuild plugins that keep code out of a bundle which Lambda never runs. `npm run bench:bundles` measures the bytes that each one
 * saves; docs/adr/0007-bundles.md has them in a table. An SDK update that moves a replaced module makes the bundle larger, and the size
 * budget of test/lib/bundling.test.ts then fails.
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

/** Replaces the reader of `~/.aws/config`, which does not exist in Lambda, by the SDK's own result for a missing file. */
const noSharedConfigFiles = replaceModule(
  'no-shared-config-files',
  /[\\/]@smithy[\\/]core[\\/]dist-es[\\/].*[\\/]fromSharedConfigFiles\.js$/,
  () => `import { CredentialsProviderError } from '../property-provider/CredentialsProviderError';
    export const fromSharedConfigFiles = () => async () => {
      throw new CredentialsProviderError('there are no shared config files');
    };`,
);

/** Removes event streams: no operation that the functions call uses them. */
const noEventStreams = replaceModule(
  'no-event-streams',
  /[\\/]@smithy[\\/]core[\\/]dist-es[\\/]submodules[\\/]event-streams[\\/]index\.js$/,
  () => `throw new Error('event streams are not part of this bundle');`,
);

/** Removes endpoint discovery: the DynamoDB client includes it, but none of its commands uses it. */
const noEndpointDiscovery = replaceModule(
  'no-endpoint-discovery',
  /[\\/]@aws-sdk[\\/]middleware-endpoint-discovery[\\/]dist-es[\\/]index\.js$/,
  () => `export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
      environmentVariableSelector: () => undefined, configFileSelector: () => undefined, default: undefined };
    export const resolveEndpointDiscoveryConfig = (config) => config;`,
);

/** Keeps the version of a client's package.json, the only field that the client reads. */
const versionOnly = replaceModule(
  'version-only',
  /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/,
  (source) => `export default ${JSON.stringify({ version: JSON.parse(source).version })};`,
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

const SERVICE = /client-([\w-]+)[\\/]dist-es[\\/]endpoint[\\/]endpointResolver\.js$/;

/**
 * Replaces the endpoint rules of the clients by the one rule that the functions need: the given endpoint, or the standard endpoint of
 * the Region. FIPS, dual-stack and account-based endpoints are not used.
 */
const regionalEndpoint = replaceModule('regional-endpoint', SERVICE, (_source, { path }) => {
  const service = SERVICE.exec(path)?.[1]?.replaceAll('-', '');
  return `export const defaultEndpointResolver = ({ Endpoint, Region }) => ({
      url: new URL(Endpoint ?? \`https://${service}.\${Region}.amazonaws.com\${Region.startsWith('cn-') ? '.cn' : ''}\`),
    });`;
});

/** The two plugins that shorten a cold start most. */
export const COLD_START_LEVERS: readonly Plugin[] = [builtinsWithoutNamespace, credentialsFromEnvironment];

/** The plugins that only make a bundle smaller. */
export const TRIMMINGS: readonly Plugin[] = [
  noSharedConfigFiles,
  noEventStreams,
  noEndpointDiscovery,
  regionalEndpoint,
  versionOnly,
  namedErrorsOnly,
];
