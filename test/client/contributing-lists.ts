/** "Add an endpoint" and "Add a field" of CONTRIBUTING.md, followed on a copy of the repository. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

/** `before`: the text of the file that the new text is put before. A file without it is new. */
interface Edit {
  readonly file: string;
  readonly before?: string;
  readonly text: string;
}

const GET_SELLER: readonly Edit[] = [
  { file: 'openapi/document.ts', before: ".0';", text: '1' },
  { file: 'CHANGELOG.md', before: '\n## [1.0.0]', text: '- Sellers: a key can read its account.\n' },
  {
    file: 'shared/api-keys/routes.ts',
    before: "} from './schema.ts';",
    text: '  sellerSchema,\n',
  },
  {
    file: 'shared/api-keys/routes.ts',
    before: "  'get-key-usage': {",
    text: `  'get-seller': {
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
  },
  {
    file: 'shared/api-keys/schema.ts',
    before: 'export const keySchema',
    text: `export const sellerSchema = v.pipe(
  v.object({ name: shown('The name of your account.', 'Kaveh Books') }),
  v.title('Seller'),
);

`,
  },
  {
    file: 'shared/api-keys/own-seller.ts',
    text: `import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';

export const sellerReader = (table: Table) => async (sellerId: string) => ({
  name: String((await getItem(table, sellerKey(sellerId)))?.name),
});
`,
  },
  {
    file: 'functions/get-seller.ts',
    text: `import { sellerReader } from '#shared/api-keys/own-seller.ts';
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
  },
  {
    file: 'test/functions/get-seller.test.ts',
    text: `import { handle } from '#functions/get-seller.ts';
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
  },
  {
    file: 'test/lib/table-calls.test.ts',
    before: '  // The rotation deletes',
    text: `  'get-seller': [
    { request: 'the seller', status: 200, rounds: [['Get', 'Update']], send: () => ({}) },
  ],
`,
  },
  {
    file: 'client/src/client.ts',
    before: '  /** Returns what the key used',
    text: `  /** Returns the account of the key. */
  async seller({ signal }: Call = {}): Promise<Seller> {
    return dataOf(await http.GET('/v1/seller', { signal }));
  },

`,
  },
  { file: 'client/src/client.ts', before: '  TypedCode,\n', text: '  Seller,\n' },
  {
    file: 'client/src/types.ts',
    before: '/** What a key used',
    text: "/** The account of a key. */\nexport type Seller = Schemas['Seller'];\n",
  },
  { file: 'client/README.md', before: '| `usage` |', text: '| `seller` | | the account: `name` |\n' },
  {
    file: 'test/client/service.process.ts',
    before: "  it('exchanges a code",
    text: `  it('reads the account of its key', async () => {
    expect(await client.seller()).toEqual({ name: 'Demo Shop' });
  });

`,
  },
  {
    file: 'test/client/client.test.ts',
    before: '    usage: (client',
    text: '    seller: (client, call) => client.seller(call),\n',
  },
  {
    file: 'test/scenarios/key.ts',
    before: "    it('shows what it used",
    text: `    it('shows its account', async () => {
      const reply = await call(target(), '/v1/seller', { key: target().keys.read_only });
      expect([reply.status, Object.keys(reply.json<object>())]).toEqual([200, ['name']]);
    });

`,
  },
];

const CITY: readonly Edit[] = [
  { file: 'openapi/document.ts', before: ".0';", text: '1' },
  { file: 'CHANGELOG.md', before: '\n## [1.0.0]', text: '- Sellers: a user has a city.\n' },
  {
    file: 'shared/users/schema.ts',
    before: 'const person =',
    text: `const citySchema = v.pipe(
  text(),
  v.description('The city of the user.'),
  v.examples(['Shiraz']),
  v.metadata({ minLength: 1 }),
  parsed(parseDisplayName, 'Must be 1 to 100 characters.'),
);

`,
  },
  {
    file: 'shared/users/schema.ts',
    before: '  external_id: v.optional(externalIdSchema),',
    text: '  city: v.optional(citySchema),\n',
  },
  {
    file: 'shared/users/schema.ts',
    before: '    external_id: v.optional(v.nullable(',
    text: '    city: v.optional(citySchema),\n',
  },
  { file: 'shared/users/schema.ts', before: ' or both.', text: ', city' },
  { file: 'shared/users/schema.ts', before: "['external_id']],", text: "['city'], " },
  { file: 'shared/users/schema.ts', before: ' }) => display_name !==', text: ', city' },
  { file: 'shared/users/schema.ts', before: ' || external_id !==', text: ' || city !== undefined' },
  {
    file: 'shared/users/schema.ts',
    before: "  display_name: v.pipe(v.string(), v.examples(['Sara Ahmadi'])),\n  created_at",
    text: `  city: v.pipe(
    v.nullable(v.string()),
    v.description('The city of the user; null if it has none.'),
    v.examples(['Shiraz']),
  ),
`,
  },
  {
    file: 'shared/users/link-user.ts',
    before: '  external_id: body.external_id,',
    text: '  city: body.city,\n',
  },
  {
    file: 'shared/users/user-item.ts',
    before: '  created_at: String',
    text: '  city: item.city === undefined ? null : String(item.city),\n',
  },
  { file: 'shared/users/routes.ts', before: ' or both; `null` clears', text: ', the city' },
  { file: 'shared/users/routes.ts', before: " and external_id. ' +", text: ', city' },
  { file: 'client/README.md', before: ', `external_id?`; option', text: ', `city?`' },
  { file: 'client/README.md', before: ', `external_id?` | the user without', text: ', `city?`' },
  { file: 'docs/contributors/table.md', before: ', `external_id`?, and', text: ', `city`?' },
  {
    file: 'docs/operators/privacy.md',
    before: '| external id, a label',
    text: '| city | plain | user | removal |\n',
  },
  {
    file: 'test/functions/create-user.test.ts',
    before: "      birth_date: '1370/01/05'",
    text: "      city: 'Shiraz',\n",
  },
  {
    file: 'test/functions/create-user.test.ts',
    before: "      display_name: 'Sara',",
    text: "      city: 'Shiraz',\n",
  },
  {
    file: 'test/functions/update-user.test.ts',
    before: " external_id: 'order:1' };",
    text: " city: 'Shiraz',",
  },
  {
    file: 'test/functions/update-user.test.ts',
    before: " display_name: 'Sara Rez\\u00e1i'",
    text: " city: 'Shiraz',",
  },
  { file: 'test/functions/update-user.test.ts', before: " or both.'", text: ', city' },
  { file: 'test/functions/update-user.test.ts', before: ', external_id. POST', text: ', city' },
];

let copy: string;

const run = promisify(execFile);
const node = (...args: readonly string[]) => run(process.execPath, args, { cwd: copy });
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: copy, encoding: 'utf8' });
const commit = () => {
  git('add', '--all');
  git(
    '-c',
    'user.name=reader',
    '-c',
    'user.email=reader@example.com',
    'commit',
    '--quiet',
    '--message',
    'Step',
  );
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
const follow = async (edits: readonly Edit[]): Promise<readonly string[]> => {
  for (const { file, before, text } of edits) {
    const old = before === undefined ? '' : await readFile(join(copy, file), 'utf8');
    expect([file, before, before === undefined ? 2 : old.split(before).length]).toEqual([file, before, 2]);
    const edited = before === undefined ? text : old.replace(before, () => text + before);
    await writeFile(join(copy, file), edited);
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
