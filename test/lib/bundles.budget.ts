import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bundles, bundleFunctions, functionFiles } from '#lib/bundling.ts';
import { addSite } from '#lib/site.ts';
import { allFunctions, allRoutes } from '#shared/routes.ts';
import { SMALL_SITE } from '#test/service/running-service.ts';

/** The largest size of each bundle in bytes of minified JavaScript, 2,000 more than it is: a cold start reads and compiles the whole file. */
const BUDGET_BYTES: Readonly<Record<string, number>> = {
  authorizer: 208_500,
  canary: 171_500,
  'check-user': 295_300,
  'create-user': 328_200,
  'delete-user': 255_700,
  // Runs in deploys only.
  'deploy-check': 299_000,
  'end-link': 295_000,
  'find-links': 288_700,
  'get-docs': 35_900,
  'get-jwks': 197_000,
  // Holds the document: 8,000 more, the length of an operation.
  'get-openapi': 232_400,
  'get-openid-configuration': 33_600,
  'get-user': 247_100,
  'list-events': 232_400,
  'list-users': 271_000,
  'rotate-key': 243_200,
  'send-otp': 277_000,
  'update-user': 254_200,
  'verify-otp': 293_400,
};

/** The budget of a function that has none of its own yet. */
const DEFAULT_BUDGET_BYTES = 236_700;

const WHAT_TO_DO =
  'Does its source map name a package or a file that it does not need? If it needs all, raise its budget in BUDGET_BYTES of test/lib/bundles.budget.ts to the size and 2,000 bytes more, and say in the commit what came in.';

let folder: string;
let bundles: Bundles;

const codeOf = (name: string): Promise<string> => readFile(join(bundles.folderOf(name), 'index.mjs'), 'utf8');

/** Returns the source files of a bundle, from its source map. */
const sourcesOf = async (name: string): Promise<string> => {
  const map = JSON.parse(await readFile(join(folder, 'maps', `${name}.mjs.map`), 'utf8')) as {
    sources: string[];
  };
  return map.sources.join('\n');
};

/** Returns the name and the hash of each file of a folder. */
const hashesIn = async (path: string): Promise<string[]> =>
  Promise.all(
    (await readdir(path)).sort().map(async (file) => {
      const content = await readFile(join(path, file));
      return `${file} ${createHash('sha256').update(content).digest('hex')}`;
    }),
  );

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bundles-'));
  bundles = await bundleFunctions({ outDir: folder });
  addSite(SMALL_SITE, bundles.folderOf('get-docs'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const names = [...allFunctions.map(({ name }) => name), 'canary', 'deploy-check'];

describe('the bundles', () => {
  test('exist for each row, the authorizer, the canary and the check of a deploy', async () => {
    expect((await readdir(join(folder, 'code'))).sort()).toEqual([...names].sort());
  });

  test('stay within their size budgets', async () => {
    const sizes = await Promise.all(
      names.map(async (name) => {
        const { size } = await stat(join(bundles.folderOf(name), 'index.mjs'));
        return { name, size, budget: BUDGET_BYTES[name] ?? DEFAULT_BUDGET_BYTES };
      }),
    );
    const exceeded = sizes
      .filter(({ size, budget }) => size > budget)
      .map(
        ({ name, size, budget }) => `${name}: ${size} bytes, ${size - budget} over its budget. ${WHAT_TO_DO}`,
      );
    expect(exceeded).toEqual([]);
  });

  test('hold only the code, and the site where the row serves it', async () => {
    for (const { name, permissions } of allRoutes) {
      const expected = ['index.mjs', ...(permissions.site ? ['site'] : [])];
      expect((await readdir(bundles.folderOf(name))).sort()).toEqual(expected.sort());
    }
  });

  test('have the same bytes in every folder and every run', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'buyer-linking-again-'));
    // One function with all of the SDK.
    const { 'create-user': entry = '' } = await functionFiles();
    // A folder that does not exist, as in a fresh clone.
    const outDir = join(elsewhere, 'bundles');
    const again = await bundleFunctions({ outDir, entries: { 'create-user': entry } });
    expect(await hashesIn(again.folderOf('create-user'))).toEqual(
      await hashesIn(bundles.folderOf('create-user')),
    );
    await rm(elsewhere, { recursive: true });
  });

  test('hold no path of the build machine', async () => {
    for (const name of names) {
      expect(await codeOf(name)).not.toContain(process.cwd());
      expect(await sourcesOf(name)).not.toContain(process.cwd());
    }
  });
});

describe('the content of a bundle', () => {
  test('a function that reads no table holds no DynamoDB and no secrets client', async () => {
    for (const name of ['get-jwks', 'get-openapi', 'get-docs']) {
      expect(await sourcesOf(name)).not.toMatch(/client-dynamodb|lib-dynamodb|client-secrets-manager/);
    }
  });

  test('only a function that signs, verifies or publishes access tokens holds the KMS client', async () => {
    const holdsKms = async (name: string) => (await sourcesOf(name)).includes('client-kms');
    const holding = await Promise.all(names.map(async (name) => ((await holdsKms(name)) ? [name] : [])));
    expect(holding.flat().sort()).toEqual([
      'create-user',
      'end-link',
      'find-links',
      'get-jwks',
      'verify-otp',
    ]);
  });

  test.each([
    [
      'the administration, the programs, the local service, a test, the builder of the document or jose',
      /^(?:\.\.\/)*(?:admin|bin|local|test|reference)\/|client-api-gateway|node_modules\/(?:jose|vitepress)\//m,
    ],
    [
      'the chain of credential providers or the reader of profiles',
      /credential-provider-(?:sso|ini|process|web-identity|imds)|shared-ini-file-loader/,
    ],
    [
      'a client of X-Ray or OpenTelemetry, which would put URLs into traces',
      /node_modules\/(?:aws-xray|@opentelemetry|@aws-lambda-powertools)/,
    ],
  ])('no bundle holds %s', async (_, sources) => {
    for (const name of names) expect(await sourcesOf(name)).not.toMatch(sources);
  });

  test('the authorizer holds the access of every row, and no rows and no schemas', async () => {
    const code = await codeOf('authorizer');
    for (const { path } of allRoutes) expect(code).toContain(`"${path}"`);
    expect(await sourcesOf('authorizer')).toContain('functions/authorizer.ts');
    expect(await sourcesOf('authorizer')).not.toMatch(/\/(?:routes|schema)\.ts$/m);
  });

  test('a function with the SDK throws if an operation asks for event streams, which its bundle lacks', async () => {
    expect(await codeOf('list-users')).toContain('event streams are not part of this bundle');
  });

  test('no bundle imports the ESM namespace of a module of Node, which costs up to 30 ms', async () => {
    for (const name of names)
      expect(await codeOf(name)).not.toMatch(/(?:from|import)\s*\(?["'](?:node:)?[a-z]/);
  });
});
