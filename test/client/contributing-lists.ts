/** "Add an endpoint" and "Add a field" of CONTRIBUTING.md, followed on a copy of the repository. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** By file: its text, if it is new, or each text that is put before another one. */
type Edits = Readonly<Record<string, string | readonly (readonly [before: string, text: string])[]>>;

const GET_SELLER: Edits = {
  'openapi/document.ts': [[".0';", '1']],
  'CHANGELOG.md': [['\n## [1.0.0]', '- Sellers: a key can read its account.\n']],
  'shared/api-keys/routes.ts': [
    ["} from './schema.ts';", '  sellerSchema,\n'],
    [
      "  'get-key-usage': {",
      `  'get-seller': {
    method: 'GET',
    path: '/v1/seller',
    access: { by: 'key' },
    summary: 'Read your account',
    description: 'The account of the key.',
    responses: { 200: { description: 'The account.', schema: sellerSchema } },
    check: { expects: 200 },
    permissions: { table: { 'SELLER#': ['GetItem'] } },
  },
`,
    ],
  ],
  'shared/api-keys/schema.ts': [
    [
      'export const keySchema',
      `export const sellerSchema = v.pipe(
  v.object({ name: shown('The name of your account.', 'Kaveh Books') }),
  v.title('Seller'),
);

`,
    ],
  ],
  'shared/api-keys/own-seller.ts': `import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';

export const sellerReader = (table: Table) => async (sellerId: string) => ({
  name: String((await getItem(table, sellerKey(sellerId)))?.name),
});
`,
  'functions/get-seller.ts': `import { sellerReader } from '#shared/api-keys/own-seller.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';

const route = apiKeyRoutes['get-seller'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async ({ caller }, { sellers }) => ({
  status: 200,
  body: await sellers.read(caller.sellerId),
});

export const build = ({ table }: KeyedParts) => ({ sellers: { read: sellerReader(table) } });

export const handler = keyedEndpoint(route, build, handle);
`,
  'test/functions/get-seller.test.ts': `import { handle } from '#functions/get-seller.ts';
import { sellerReader } from '#shared/api-keys/own-seller.ts';
import { routes } from '#shared/routes.ts';
import { useTable } from '#test/table/use-table.ts';
import { addSellers } from './create-user-under-test.ts';
import { functionUnderTest } from './harness.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

describe('200', () => {
  it('returns the account of the key', async () => {
    const sellers = { read: sellerReader(table) };
    const { call } = functionUnderTest(routes['get-seller'], handle, table, { sellers });
    expect((await call({})).json).toEqual({ name: 'Kaveh Books' });
  });
});
`,
  'test/lib/table-calls.test.ts': [
    [
      '  // The rotation deletes',
      `  'get-seller': [
    { request: 'the seller', status: 200, rounds: [['Get', 'Update']], send: () => ({}) },
  ],
`,
    ],
  ],
  'client/src/client.ts': [
    [
      '  /** Returns what the key used',
      `  /** Returns the account of the key. */
  async seller({ signal }: Call = {}): Promise<Seller> {
    return dataOf(await http.GET('/v1/seller', { signal }));
  },

`,
    ],
    ['  TypedCode,\n', '  Seller,\n'],
  ],
  'client/src/types.ts': [
    ['/** What a key used', "/** The account of a key. */\nexport type Seller = Schemas['Seller'];\n"],
  ],
  'client/README.md': [['| `usage` |', '| `seller` | | the account: `name` |\n']],
  'test/client/service.process.ts': [
    [
      "  it('exchanges a code",
      `  it('reads the account of its key', async () => {
    expect(await client.seller()).toEqual({ name: 'Demo Shop' });
  });

`,
    ],
  ],
  'test/client/client.test.ts': [
    ['    usage: (client', '    seller: (client, call) => client.seller(call),\n'],
  ],
  'test/scenarios/key.ts': [
    [
      "    it('shows what it used",
      `    it('shows its account', async () => {
      const reply = await call(target(), '/v1/seller', { key: target().keys.read_only });
      expect([reply.status, Object.keys(reply.json<object>())]).toEqual([200, ['name']]);
    });

`,
    ],
  ],
};

const CITY: Edits = {
  'openapi/document.ts': [[".0';", '1']],
  'CHANGELOG.md': [['\n## [1.0.0]', '- Sellers: a user has a city.\n']],
  'shared/users/schema.ts': [
    [
      'const person =',
      `const citySchema = v.pipe(
  text(),
  v.description('The city of the user.'),
  v.examples(['Shiraz']),
  v.metadata({ minLength: 1 }),
  parsed(parseDisplayName, 'Must be 1 to 100 characters.'),
);

`,
    ],
    ['  external_id: v.optional(externalIdSchema),', '  city: v.optional(citySchema),\n'],
    ['    external_id: v.optional(v.nullable(', '    city: v.optional(citySchema),\n'],
    [' or both.', ', city'],
    ["['external_id']],", "['city'], "],
    [' }) => display_name !==', ', city'],
    [' || external_id !==', ' || city !== undefined'],
    [
      "  display_name: v.pipe(v.string(), v.examples(['Sara Ahmadi'])),\n  created_at",
      `  city: v.pipe(
    v.nullable(v.string()),
    v.description('The city of the user; null if it has none.'),
    v.examples(['Shiraz']),
  ),
`,
    ],
  ],
  'shared/users/link-user.ts': [['  external_id: body.external_id,', '  city: body.city,\n']],
  'shared/users/user-item.ts': [
    ['  created_at: String', '  city: item.city === undefined ? null : String(item.city),\n'],
  ],
  'shared/users/routes.ts': [
    [' or both; `null` clears', ', the city'],
    [" and external_id. ' +", ', city'],
  ],
  'client/README.md': [
    [', `external_id?`; option', ', `city?`'],
    [', `external_id?` | the user without', ', `city?`'],
  ],
  'docs/contributors/table.md': [[', `external_id`?, and', ', `city`?']],
  'docs/operators/privacy.md': [['| external id, a label', '| city | plain | user | removal |\n']],
  'test/functions/create-user.test.ts': [
    ["      birth_date: '1370/01/05'", "      city: 'Shiraz',\n"],
    ["      display_name: 'Sara',", "      city: 'Shiraz',\n"],
  ],
  'test/functions/update-user.test.ts': [
    [" external_id: 'order:1' };", " city: 'Shiraz',"],
    [" display_name: 'Sara Rez\\u00e1i'", " city: 'Shiraz',"],
    [" or both.'", ', city'],
    [', external_id. POST', ', city'],
  ],
};

let copy: string;

const run = promisify(execFile);
const node = (...args: readonly string[]) => run(process.execPath, args, { cwd: copy });
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: copy, encoding: 'utf8' });
const commit = () => {
  git('add', '--all');
  git(...'-c user.name=reader -c user.email=reader@example.com commit --quiet --message Step'.split(' '));
};

/** Copies the repository, with its packages and those of the client, which the script of the suite has installed. */
export const copyRepository = async (): Promise<void> => {
  copy = await mkdtemp(join(tmpdir(), 'buyer-linking-lists-'));
  // Also the files that are not in git yet, and none that is deleted.
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', listed, { cwd: REPOSITORY, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(REPOSITORY, name))))
    await cp(join(REPOSITORY, file), join(copy, file));
  for (const folder of ['node_modules', 'client/node_modules'])
    await symlink(join(REPOSITORY, folder), join(copy, folder));
  git('init', '--quiet');
  commit();
};

export const removeCopy = (): Promise<void> => rm(copy, { recursive: true, force: true });

/** Makes the edits and what the generators write, and returns the files that changed since the last call. */
const follow = async (edits: Edits): Promise<readonly string[]> => {
  for (const [file, texts] of Object.entries(edits)) {
    const path = join(copy, file);
    let edited = typeof texts === 'string' ? texts : await readFile(path, 'utf8');
    for (const [before, text] of typeof texts === 'string' ? [] : texts) {
      expect([file, before, edited.split(before).length]).toEqual([file, before, 2]);
      edited = edited.replace(before, () => text + before);
    }
    await writeFile(path, edited);
  }
  await node('bin/openapi.ts');
  const changed = git('ls-files', '--modified', '--others', '--exclude-standard').trim().split('\n').sort();
  commit();
  return changed;
};

/** The files in bold of a section of CONTRIBUTING.md. */
const filesOf = async (
  heading: string,
  words: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const page = await readFile(join(REPOSITORY, 'CONTRIBUTING.md'), 'utf8');
  const [section = ''] = page.slice(page.indexOf(`## ${heading}`) + 3).split('\n## ');
  const files = [...section.matchAll(/\*\*`([^`]+)`\*\*/g)].map(([, file]) => String(file));
  return files.map((file) => file.replace(/<(\w+)>/g, (_, word: string) => String(words[word]))).sort();
};

/** The tests that the lists name. */
const TESTS = [
  'published-operations.test',
  'functions/get-seller.test',
  'functions/create-user.test',
  'functions/update-user.test',
  'lib/table-calls.test',
  'client/client.test',
  'client/service.process',
  'openapi/truthful.test',
];

/** Follows both lists, and expects that the files in bold change and no others. Returns what changed. */
export const followLists = async (): Promise<readonly string[]> => {
  const lists = {
    endpoint: await filesOf('Add an endpoint', { domain: 'api-keys', name: 'get-seller', file: 'key' }),
    field: await filesOf('Add a field', { domain: 'users' }),
  };
  const changed = { endpoint: await follow(GET_SELLER), field: await follow(CITY) };
  expect(changed).toEqual(lists);
  return Object.values(changed).flat();
};

/** Checks the copy as the lists say: format, types, the document, and the tests that they name. */
export const checkCopy = async (changed: readonly string[]): Promise<void> => {
  const biome = 'node_modules/@biomejs/biome/bin/biome';
  await node(biome, 'check', '--write', '--no-errors-on-unmatched', ...changed);
  // One thread: several check shared types once each.
  await node('node_modules/@typescript/native/bin/tsc', '--noEmit', '--singleThreaded');
  await node('bin/openapi.ts', '--check');
  const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const files = TESTS.map((name) => `<rootDir>/test/${name}.ts`);
  await node(...jest, '--maxWorkers=1', '--testMatch', ...files);
};
