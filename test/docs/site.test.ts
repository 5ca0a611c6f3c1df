/** What the documentation site is made from, without its build. */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { sourceFiles } from '#lib/site.ts';
import { descriptionOf, GUIDES, guideMarkdown, PERSIAN_GUIDES } from '../../docs/.vitepress/guides.ts';
import { publishedHtml } from '../../docs/.vitepress/html.ts';
import { operations, spec } from '../../docs/.vitepress/openapi.ts';
import { operationMarkdown } from '../../docs/.vitepress/operation-markdown.ts';
import { durationText } from '../../docs/.vitepress/theme/duration.ts';
import { formsOf } from '../../docs/.vitepress/theme/search.ts';
import document from '../../openapi.json' with { type: 'json' };
import { textOf } from './page.ts';

const ROOT = new URL('../../', import.meta.url);

const guides = [...Object.values(GUIDES).flat(), ...PERSIAN_GUIDES];

interface Node {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

/** The names of the fields of a schema, at any depth. */
const fieldNames = (schema: Node): readonly string[] => {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return fieldNames(document.components.schemas[name as 'User'] as Node);
  const own = Object.entries(schema.properties ?? {});
  return own.flatMap(([field, value]) => [field, ...fieldNames(value.items ?? value)]);
};

describe('the Markdown of an operation', () => {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
  );

  it.each(all)(
    '%s %s begins with method and path, and has each field and each problem of the document',
    (method, path, documented) => {
      const operation = operations.find(({ operationId }) => operationId === documented.operationId);
      const text = operationMarkdown(operation as NonNullable<typeof operation>);
      expect(text.split('\n', 1)).toEqual([`# ${method} ${path}`]);
      const {
        parameters = [],
        requestBody,
        responses,
      } = documented as unknown as {
        parameters?: { name: string }[];
        requestBody?: { content: Record<string, { schema: Node }> };
        responses: Record<string, { description: string; content?: Record<string, { schema: Node }> }>;
      };
      const problems = Object.values(responses).filter(
        ({ content = {} }) => 'application/problem+json' in content,
      );
      const bodies = [
        requestBody,
        ...Object.values(responses).filter((response) => !problems.includes(response)),
      ];
      const fields = bodies.flatMap((body) =>
        Object.values(body?.content ?? {}).flatMap(({ schema }) => fieldNames(schema)),
      );
      for (const name of [...fields, ...parameters.map(({ name }) => name)])
        expect(text).toMatch(new RegExp(`^\\| \`(?:[\\w.[\\]]+\\.)?${name}\` \\|`, 'm'));
      const codes = problems.flatMap(({ description }) =>
        [...description.matchAll(/^`(\w+)`: /gm)].map(([, code]) => code),
      );
      expect(codes.length).toBeGreaterThan(0);
      for (const code of codes) expect(text).toContain(`| [\`${code}\`](../errors.md#${code}) |`);
    },
  );
});

describe('the HTML of the first page', () => {
  it('links to the other pages from /docs as from /docs/, without a script too', () => {
    const link = '<a href="./fa/quick-start">';
    expect(publishedHtml(link, 'index.md')).toBe('<a href="/__base__/docs/fa/quick-start">');
    expect(publishedHtml(link, 'linking.md')).toBe(link);
  });
});

describe('the document of the pages', () => {
  it('has required fields first, and no problems, which a page lists by code', () => {
    const { required, properties } = spec.components.schemas.CreateUserBody;
    expect(Object.keys(properties).slice(0, required.length).sort()).toEqual([...required].sort());
    expect(Object.keys(spec.paths['/v1/users']?.post?.responses ?? {})).toEqual(['200', '201']);
  });

  it('describes an operation in paragraphs of at most two lines, or of one sentence', () => {
    const published = JSON.stringify(Object.values(spec.paths).map(Object.values));
    const descriptions = [...published.matchAll(/"description":("[^"]*(?:\\"[^"]*)*"),"security"/g)];
    expect(descriptions).toHaveLength(operations.length);
    const paragraphs = descriptions.flatMap(([, text = '']) => String(JSON.parse(text)).split('\n\n'));
    expect(paragraphs.filter((text) => text.length > 160 && /\. [A-Z]/.test(text))).toEqual([]);
  });
});

describe('a query of the search', () => {
  it.each([
    ['كليد', 'کلید'],
    ['پيامك', 'پیامک'],
    ['شمارة', 'شماره'],
    ['شمارۀ', 'شماره'],
    ['إمضا', 'امضا'],
    ['۴۰۹', '409'],
    ['٤٠٩', '409'],
    ['409', '۴۰۹'],
    ['وب\u200cهوک', 'وبهوک'],
    ['API', 'api'],
  ])('%s finds what pages write as %s', (term, written) => {
    expect(formsOf(term)).toContain(written);
  });
});

describe('the page of a key', () => {
  it.each([
    [59, '59 s'],
    [60, '1 min'],
    [7_140, '119 min'],
    [7_200, '2 h'],
    [36_360, '10 h'],
    [86_400, '24 h'],
  ])('shows %s seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('a guide', () => {
  it('has a description of its own', () => {
    const descriptions = guides.map((name) => descriptionOf(`${name}.md`));
    expect(descriptions.filter((text) => text.length < 40)).toEqual([]);
    expect(new Set(descriptions).size).toBe(guides.length);
  });

  it('shows JSON over several lines, where its file has it as one line that the tests compare', () => {
    expect(textOf('docs/sellers/quick-start.md')).toContain('{"expires_in":300,"resend_after":60}');
    expect(guideMarkdown('quick-start.md')).toContain('{\n  "id": "usr_');
    // Like `JSON.stringify`, but also of JSON that leaves something out.
    const [problem = ''] = /^\{"type".*"errors":.*\}$/m.exec(textOf('docs/sellers/errors.md')) ?? [];
    expect(guideMarkdown('errors.md')).toContain(JSON.stringify(JSON.parse(problem), null, 2));
    for (const name of guides)
      expect(guideMarkdown(`${name}.md`)).not.toMatch(/(?<=^```json\n(?:(?!```).*\n)*)[{[].{60,}$/m);
  });

  it('names no file of the repository if it is the changelog, which has the entries of sellers alone', () => {
    expect(textOf('CHANGELOG.md')).toMatch(/^- Sellers: /m);
    expect(guideMarkdown('changelog.md')).not.toMatch(/^- (?:Sellers|Operators): /m);
    const files = guideMarkdown('changelog.md').match(
      /(?<!\()(?<![\w/])[\w.-]+(?:\/[\w.-]+)*\.(?:md|ts|mjs|py)\b(?!\))/g,
    );
    expect(files).toBeNull();
  });
});

describe('the first page', () => {
  it('shows a link as the OpenAPI document has it', () => {
    const { requestBody, responses } = document.paths['/v1/users'].post;
    const page = textOf('docs/sellers/index.md');
    for (const { content } of [requestBody, responses[201]])
      expect(page).toContain(JSON.stringify(content['application/json'].example, null, 2));
  });
});

describe('the sources of the site', () => {
  /** The files of the repository that a file imports or names. */
  const namedIn = (file: string): readonly string[] => {
    const text = readFileSync(new URL(file, ROOT), 'utf8');
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) =>
      posix.join(posix.dirname(file), path),
    );
    const byAlias = [...text.matchAll(/from '#([^']+)'/g)].map(([, path = '']) => path);
    const byName = [...text.matchAll(/[\w./-]+\.(?:json|md|py|ts)\b/g)].map(([path]) =>
      path.replace(/^\//, ''),
    );
    return [
      ...imports,
      ...byAlias,
      ...byName.filter((path) => path.includes('/') || path === 'CHANGELOG.md'),
    ];
  };

  it('name everything that the build imports and reads', () => {
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file) || !existsSync(new URL(file, ROOT)) || file.includes('node_modules')) return;
      seen.add(file);
      if (/\.(?:ts|vue)$/.test(file)) namedIn(file).forEach(visit);
    };
    [
      'lib/site.ts',
      'docs/.vitepress/config.ts',
      'docs/.vitepress/theme/index.ts',
      'docs/sellers/operations/[operationId].paths.ts',
    ].forEach(visit);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'openapi.json',
        'client/tsconfig.types.json',
        'client/src/index.ts',
        'shared/docs/site.ts',
      ]),
    );
    expect([...seen].filter((file) => !sourceFiles().includes(file))).toEqual([]);
  });
});
