/**
 * Follows every page for sellers, and then the page for admins, as a reader would: in reading order, in one clone, against one running
 * service, each snippet as it is written. It installs packages from registries, so `npm test` leaves it out: `npm run test:docs` runs it.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, delimiter as pathDelimiter } from 'node:path';
import { parse } from 'csv-parse/sync';
import { registerBuyer } from '#test/scenarios/buyers.ts';
import { localTarget } from '#test/service/local-target.ts';
import { ADMIN_PAGE, followAdminPage } from './admin-page.ts';
import { sixtyCustomers } from './customers-file.ts';
import { faultsOf } from './output.ts';
import { pagesInReadingOrder, parsePage, textOf } from './page.ts';
import { newReader, type Reader } from './reader.ts';

const OWN_VALUES = {
  'BUYER_LINKING_URL=https://…': 'the reader has the address and the key of the service that runs',
};

/** The snippets that are not run here, by their first lines, and why. */
const NOT_RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm ci && npm start   # the whole service on http://localhost:3000': 'the reader has done this',
    'npm run admin -- sellers create "Kaveh Books"': 'docs/operators/admin.md has these commands',
    'npm ci': 'a deploy: npm run test:deploy',
  },
  'docs/sellers/keep-in-step.md': {
    'node mirror.mts': 'does not end: test/docs/keep-in-step.process.ts runs it',
  },
  'docs/sellers/other-languages.md': {
    'go mod init shop': 'requires Go',
    'package main': 'requires Go',
    'go mod tidy': 'requires Go',
  },
  'docs/sellers/quick-start.md': OWN_VALUES,
  'docs/sellers/fa/quick-start.md': OWN_VALUES,
  'docs/sellers/fa/your-key.md': {
    'curl -s -X POST $BUYER_LINKING_URL/v1/key/secrets -H "X-Api-Key: $BUYER_LINKING_API_KEY" \\':
      'a rotation: docs/sellers/your-key.md runs it',
  },
  'docs/sellers/your-key.md': {
    'curl -s -X POST $BUYER_LINKING_URL/v1/key/secrets -H "X-Api-Key: $BUYER_LINKING_API_KEY" \\':
      'a second rotation: the page shows that it is refused',
  },
  'docs/contributors/local.md': {
    'npm start                           # http://localhost:3000, data in .local/':
      'the reader has done this',
    'export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1':
      'requires the AWS CLI',
  },
};

/** The demo key of a reader, where the page asks for another one than that of the quick start. */
const OTHER_KEYS: Readonly<Record<string, 'app' | 'events' | 'rotate' | 'professional'>> = {
  'docs/sellers/buyer-app.md': 'app',
  'docs/sellers/keep-in-step.md': 'events',
  'docs/sellers/your-key.md': 'rotate',
  'docs/sellers/fa/your-key.md': 'professional',
};

const PAGES = pagesInReadingOrder();

/** Installs a generator with its own environment, a third of all CPU seconds: other-languages.nightly.ts runs it. */
const AT_NIGHT = 'docs/sellers/other-languages.md';

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(pathDelimiter).some((folder) => existsSync(join(folder, command)));

const missingCommands = (page: string): readonly string[] => {
  const text = textOf(page);
  const needed = ['bash', 'curl', 'sort', ...(text.includes('python3 ') ? ['python3'] : [])];
  return needed.filter((command) => !isOnPath(command));
};

/** `it`, or `it.skip` with the commands of the page that this machine lacks. */
const itWhereItRuns = (page: string, title: string, run: () => Promise<void>): void => {
  const missing = missingCommands(page);
  const [test, reason] = missing.length > 0 ? [it.skip, ` (skipped: no ${missing.join(', ')})`] : [it, ''];
  test(`${page} ${title}${reason}`, run, 120_000);
};

describe('the pages in reading order', () => {
  let reader: Reader;

  beforeAll(async () => {
    reader = await newReader();
  });

  afterAll(() => reader?.leave());

  it.each(PAGES)('%s has no snippet that is left out without a reason', (page) => {
    expect([...parsePage(textOf(page)).notRun].sort()).toEqual(Object.keys(NOT_RUN[page] ?? {}).sort());
  });

  for (const page of PAGES.filter((name) => name !== AT_NIGHT)) {
    itWhereItRuns(page, 'runs as written and prints what it shows', async () => {
      const content = parsePage(textOf(page));
      const printed = await reader.follow(content.steps, OTHER_KEYS[page]);
      expect(faultsOf(content, printed)).toEqual([]);
    });
  }

  const title = 'has a program that links sixty customers of a file but for those of two meanings';
  itWhereItRuns('docs/sellers/bring-your-customers.md', title, async () => {
    const shop = join(reader.home, 'shop');
    const { text, phones, codes } = sixtyCustomers();
    for (const phone of phones) await registerBuyer(localTarget(reader.service.demo), phone);
    await writeFile(join(shop, 'sixty.csv'), text);
    const command = 'cd ../shop; rm -f results.csv; python3 bring_customers.py sixty.csv';
    await reader.follow([{ text: command, shown: undefined }], 'professional');
    const results = await readFile(join(shop, 'results.csv'), 'utf8');
    const rows: { code: string }[] = parse(results, { columns: true, bom: true });
    expect(rows.map(({ code }) => code)).toEqual(codes);
  });

  it(`${ADMIN_PAGE} runs as written and prints what it shows`, async () => {
    expect(await followAdminPage(reader)).toEqual([]);
  });

  it('have TypeScript programs that compile with the strictest options', async () => {
    expect(
      await reader.compile(['link.mts', 'mirror.mts', 'example.mts', 'token.mts', 'returning.mts']),
    ).toBe('');
  });
});
