import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { guideFile, guidePage } from '#reference/pages/guide-page.ts';
import { DIAGRAMS, diagram, diagramFile, diagramSources } from '#reference/pages/markdown.ts';
import { GUIDE_NAMES, type GuideName } from '#shared/docs/files.ts';
import { LOCAL_SITE } from './sites.ts';

const textOf = (name: GuideName): Promise<string> =>
  readFile(new URL(`../../../${guideFile(name)}`, import.meta.url), 'utf8');

const bodyOf = async (name: GuideName): Promise<string> =>
  guidePage(name, await textOf(name), LOCAL_SITE).body;

const CHARACTERS: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  amp: '&',
};

/** Returns the blocks of code of a guide, also those in a quotation. */
const blocksOf = async (name: GuideName): Promise<readonly Tokens.Code[]> => {
  const blocks: Tokens.Code[] = [];
  const marked = new Marked();
  marked.walkTokens(marked.lexer(await textOf(name)), (token) => {
    if (token.type === 'code') blocks.push(token as Tokens.Code);
  });
  return blocks;
};

/** Returns the text of a piece of HTML. */
const textIn = (markup: string): string =>
  markup.replace(/<[^>]*>/g, '').replace(/&(#?\w+);/g, (entity, name) => CHARACTERS[name] ?? entity);

const allIn = (body: string, pattern: RegExp): readonly string[] =>
  [...body.matchAll(pattern)].map(([, found]) => String(found));

describe('a block of code', () => {
  const { body } = guidePage(
    'errors',
    '# Title\n\n```sh\ncurl -s "$BASE/v1" | sort -u\n```\n\n```json\n{"a":{"b":1}}\n{"c":[…]}\n```\n\n```bash\nnode a.ts\n```\n',
    LOCAL_SITE,
  );

  it('has its caption and a button to copy, for a command, its response and a command that is not tried with the page', () => {
    expect(allIn(body, /<figcaption><span>(\w+)<\/span><button [^>]*class="copy">/g)).toEqual([
      'Command',
      'Response',
      'Command',
    ]);
  });

  it('has its tokens marked for their colors', () => {
    expect(body).toContain('<span class="h-variable">$BASE</span>');
    expect(body).toContain('<span class="h-attr">"a"</span>');
  });

  it('shows JSON with indentation, also where … stands for a part of it', () => {
    const [, response = ''] = allIn(body, /<code>([\s\S]*?)<\/code>/g);
    expect(textIn(response)).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n{\n  "c": [\n    …\n  ]\n}');
  });
});

describe.each(GUIDE_NAMES)('the guide %s', (name) => {
  it('has a link in each heading and in the list of headings, to ids that exist', async () => {
    const body = await bodyOf(name);
    const ids = allIn(body, /<h[23] id="([^"]+)">/g);
    expect(allIn(body, /<h[23] id="[^"]+"><a class="self" href="#([^"]+)">/g)).toEqual(ids);
    expect(allIn(body, /<li class="depth-\d"><a href="#([^"]+)">/g)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('shows the text of every block of code as it is written, but for the indentation of JSON', async () => {
    const written = (await blocksOf(name))
      .filter(({ lang }) => lang !== 'mermaid')
      .map(({ text }) => text.replaceAll(/\s/g, ''));
    const shown = allIn(await bodyOf(name), /<pre[^>]*><code>([\s\S]*?)<\/code>/g).map((markup) =>
      textIn(markup).replaceAll(/\s/g, ''),
    );
    expect(shown).toEqual(written);
  });

  it('has no line of a command or a program that is longer than 90 characters', async () => {
    const blocks = (await blocksOf(name)).filter(
      ({ lang = '' }) => !['json', 'http', 'mermaid'].includes(lang),
    );
    expect(blocks.flatMap(({ text }) => text.split('\n')).filter((line) => line.length > 90)).toEqual([]);
  });

  it('shows every diagram as an image with a text alternative', async () => {
    const body = await bodyOf(name);
    const images = allIn(body, /<img alt="[^"]+" src="data:image\/svg\+xml,(%3Csvg)/g);
    expect(images).toHaveLength(diagramSources(await textOf(name)).length);
  });

  it('is at most 120 KB', async () => {
    expect(Buffer.byteLength(await bodyOf(name))).toBeLessThanOrEqual(120 * 1024);
  });
});

describe('headings with the same text', () => {
  it('have ids of their own, as on GitHub', () => {
    const { body } = guidePage(
      'changelog',
      '# Changes\n\n## 2\n\n### Added\n\n## 1\n\n### Added\n',
      LOCAL_SITE,
    );
    expect(allIn(body, /<h[23] id="([^"]+)">/g)).toEqual(['2', 'added', '1', 'added-1']);
  });
});

describe('an error code in a guide', () => {
  it('has an id and a link to it', async () => {
    expect(await bodyOf('errors')).toContain(
      '<tr id="user_conflict"><td><a class="self" href="#user_conflict"><code>user_conflict</code></a></td>',
    );
  });
});

describe('the guides in reading order', () => {
  it.each([
    ['English', GUIDE_NAMES.filter((name) => !name.startsWith('fa/'))],
    ['Persian', GUIDE_NAMES.filter((name) => name.startsWith('fa/'))],
  ])('link to the %s guides before and after them', async (_language, names) => {
    const links = (body: string) => allIn(body, /<a rel="(?:prev|next)" href="([^"]+)">/g);
    const pages = await Promise.all(names.map(bodyOf));
    const expected = names.map((_, index) =>
      [names[index - 1], names[index + 1]]
        .filter((name) => name !== undefined)
        .map((name) => `{root}/docs/${name}`),
    );
    expect(pages.map(links)).toEqual(expected);
  });

  it('are all in the menu of a Persian page, the Persian ones first, the others marked as English', async () => {
    const menu = allIn(await bodyOf('fa/errors'), /<li><a href="\{root\}\/docs\/([^"]+"[^>]*>[^<]+)<\/a>/g);
    const [key, ...guides] = menu;
    expect(key).toContain('(انگلیسی)');
    expect(guides.filter((link) => !link.includes('(انگلیسی)')).map((link) => link.split('"')[0])).toEqual(
      GUIDE_NAMES.filter((name) => name.startsWith('fa/')),
    );
    expect(guides.map((link) => link.split('"')[0])).toEqual([
      ...GUIDE_NAMES.filter((name) => name.startsWith('fa/')),
      ...GUIDE_NAMES.filter((name) => !name.startsWith('fa/')),
    ]);
  });
});

describe('docs/sellers/diagrams', () => {
  it('holds exactly the drawings of the diagrams of the guides', async () => {
    const sources = (await Promise.all(GUIDE_NAMES.map(textOf))).flatMap(diagramSources);
    expect(sources).not.toEqual([]);
    expect((await readdir(DIAGRAMS)).sort()).toEqual(
      sources.map((source) => basename(diagramFile(source).pathname)).sort(),
    );
  });

  it('stops the build at a source that is not drawn or that has no title', () => {
    expect(() => diagram('stateDiagram-v2\n  accTitle: Two states\n  A --> B')).toThrow(
      '"Two states" is not drawn. Run: npm run docs:diagrams',
    );
    expect(() => diagram('stateDiagram-v2\n  A --> B')).toThrow('The diagram has no accTitle');
  });
});
