import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GUIDES, PERSIAN_GUIDES } from '../../docs/.vitepress/guides.ts';
import { answersOf, consoleCommandsOf, linesNotPrinted } from './console.ts';
import { faultOf } from './output.ts';
import { pagesInReadingOrder, parsePage, textOf } from './page.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;

describe('a page', () => {
  it('has its commands, each with the output that follows it, and its programs by the name before them', () => {
    const page = `${fence('sh', 'date')}${fence('text', 'now')}Save this as \`a.ts\`:\n${fence('ts', '1;')}${fence('sh', 'node a.ts')}`;
    expect(parsePage(page)).toEqual({
      steps: [
        { text: 'date\n', shown: { language: 'text', text: 'now\n', prose: expect.any(String) } },
        { name: 'a.ts', text: '1;\n' },
        { text: 'node a.ts\n', shown: undefined },
      ],
      notRun: [],
    });
  });

  it('reports as not run what is neither a command, a program with a name, nor an output', () => {
    const blocks = ['ts', 'bash', '', 'json'].map((language) => fence(language, `in ${language}`));
    expect(parsePage(blocks.join('')).notRun).toEqual(['in ts', 'in bash', 'in ', 'in json']);
  });
});

test('the output of a command is that of its page but for ids, times and what … stands for', () => {
  const shown = (text: string, language = 'json') => ({ text: 'curl', shown: { language, text } });
  const page = shown('{"id":"usr_a","at":"2026-01-01T00:00:00.000Z","data":[…{"a":1}]}\n…\nSara\n');
  const printed =
    '{"id":"usr_b","at":"2027-01-01T00:00:00.000Z","data":[{"a":0},{"a":1}]}\nReza\nMina\nSara\n';
  expect(faultOf(printed, page)).toBeUndefined();
  for (const other of [printed.replace('"a":1', '"a":2'), `${printed}Mina\n`, printed.trimEnd(), '']) {
    expect(faultOf(other, page)).toBe('prints something other than its page shows');
  }
  const unseen = { text: 'curl', shown: undefined };
  expect(faultOf('{"code":"resend_too_soon"}\n', unseen)).toBe('prints what its page does not show');
  expect(faultOf('added 3 packages\n', { ...unseen, text: 'npm install jose\n' })).toBeUndefined();
  const response = 'HTTP/1.1 200 OK\r\nDate: now\r\nRateLimit: "free";r=57;t=3\r\n\r\n{}\n';
  expect(faultOf(response, shown('HTTP/1.1 200 OK\nRateLimit: "free";r=99;t=42\n', 'http'))).toBeUndefined();
  expect(faultOf(response, shown('HTTP/1.1 429 Too Many Requests\n', 'http'))).toBeDefined();
});

describe('the other pages', () => {
  /** The pages whose snippets need an AWS account or ids of a deployment, or leave code out, and the test of each. */
  const TESTS: Readonly<Record<string, string | undefined>> = {
    'docs/operators/a-seller-reports.md': 'test/admin/cli/docs.test.ts',
    'docs/operators/adding-a-provider.md': undefined,
    'docs/operators/admin.md': 'test/admin/cli/docs.test.ts',
    'docs/operators/deploy-from-github.md': 'test/docs/smoke-permissions.test.ts',
    'docs/operators/deploy.md': 'test/lib/operations.test.ts',
    'docs/operators/message-templates.md': 'test/docs/message-templates.test.ts',
    'docs/operators/operations.md': 'test/lib/operations.test.ts',
    'docs/sellers/index.md': 'test/docs/site.test.ts',
  };

  it('with snippets are those whose snippets cannot run on one machine, with a test of their own where one can be', () => {
    const isForSellers = (page: string) => pagesInReadingOrder().includes(page);
    const pages = globSync('docs/**/*.md', { cwd: REPOSITORY }).filter((page) => !isForSellers(page));
    const withSnippets = pages.filter((page) => /^```(?!mermaid)/m.test(textOf(page)));
    expect(withSnippets.sort()).toEqual(Object.keys(TESTS));
    for (const test of Object.values(TESTS).filter((path) => path !== undefined)) {
      expect(textOf(test)).toContain('/docs/');
    }
  });
});

describe('the pages for sellers', () => {
  it('of the site are those of the README, and all files of docs/sellers', () => {
    // A page of the site alone, and the changelog and the client's README, which are files of other places.
    const ofSiteOnly = ['key', 'changelog', 'typescript-client'];
    const listed = [...Object.values(GUIDES).flat(), ...PERSIAN_GUIDES].sort();
    const linked = textOf('README.md').matchAll(/\]\(docs\/sellers\/([\w/-]+)\.md\)/g);
    const inReadme = [...linked].map(([, name]) => String(name));
    expect([...new Set(inReadme), ...ofSiteOnly].sort()).toEqual(listed);
    const files = globSync('docs/sellers/{,fa/}*.md', { cwd: REPOSITORY }).map((file) => file.slice(13, -3));
    expect(files.filter((name) => name !== 'index').sort()).toEqual(listed);
  });

  const texts = pagesInReadingOrder().map(textOf);

  it('have a phone and a national id of their own each, so that no page disturbs the next', () => {
    const people = texts.flatMap((text) => {
      const found = [...text.matchAll(/(?<!\d)(?:0|\+98|%2B98)?(999000\d{4}|999001\d{4})(?!\d)/g)];
      return [...new Set(found.map(([, digits]) => digits))];
    });
    expect(people.length).toBeGreaterThan(10);
    expect(people).toHaveLength(new Set(people).size);
  });

  it('hide no failed call: no output is thrown away, and no assignment hides an exit status', () => {
    const hidden = texts.flatMap(
      (text) =>
        text.match(
          /^.*(?:-o \/dev\/null(?!.*%\{http_code\})|>\s*\/dev\/null|\|\| true|^export \w+=\$\().*$/gm,
        ) ?? [],
    );
    expect(hidden).toEqual([]);
  });
});

const page = `
\`\`\`console
$ npm run admin -- buyers erase "a phone"      # asks
Erase this buyer for good? It is linked with 2 sellers as 3 users. [y/N] y
Erased 3 users of 2 sellers.
\`\`\`
`;

test('a console block has commands, answers, and lines that may differ in colors, spaces and numbers only', () => {
  const [erase, ...others] = consoleCommandsOf(page);
  if (erase === undefined) throw new Error('no command was found');
  expect([erase.words, others]).toEqual([['buyers', 'erase', 'a phone'], []]);
  expect(answersOf(erase)).toEqual([['[y/N]', 'y']]);
  const asked = 'Erase this buyer for good?  It is linked with 1 seller as 1 user. [y/N] y\n';
  expect(linesNotPrinted(`${asked}\u001b[1mErased\u001b[22m 1 user of 1 seller.`, erase)).toEqual([]);
  expect(linesNotPrinted(`${asked}Removed 3 users of 2 sellers.`, erase)).toEqual([
    'Erased 3 users of 2 sellers.',
  ]);
});
