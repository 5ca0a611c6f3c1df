import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handle } from '#functions/get-guide.ts';
import { writePages } from '#reference/pages/write-pages.ts';
import { DOCS_FILE_NAMES, DOCS_PATHS, docsFileReader, GUIDE_NAMES } from '#shared/docs/files.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { routes } from '#shared/routes.ts';
import { LOCAL_SITE } from '#test/reference/pages/sites.ts';
import client from '../../client/package.json' with { type: 'json' };
import { callForText } from './docs-call.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-guides-'));
  // Without the types of the client, which take seconds: client.packed.ts uses them.
  const files = DOCS_FILE_NAMES.filter((file) => !file.endsWith('.d.mts'));
  await writePages(folder, LOCAL_SITE, files);
});

afterAll(() => rm(folder, { recursive: true }));

/** The pages of the function for people. */
const PAGES = [...GUIDE_NAMES, 'key'] as const;

const SERVED: readonly string[] = DOCS_PATHS.map((path) => `/docs/${path}`);

const handler = endpoint(routes['get-guide'], () => ({ read: docsFileReader(folder) }), handle);

const get = (guide: string, accept = '*/*') =>
  callForText(handler, `/docs/${guide}`, { guide }, { Accept: accept });

const linksOf = (body: string) => [...body.matchAll(/href="([^"]*)"/g)].map(([, link]) => String(link));

describe('200', () => {
  it.each(PAGES)('returns %s as a page with a strict policy', async (name) => {
    const { status, headers, body } = await get(name);
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(headers['Content-Security-Policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/,
    );
    expect(body).toMatch(/<h1 id="[^"]+">/);
  });

  it.each(PAGES)('links from %s only to pages of the deployment, relative to it', async (name) => {
    const { body } = await get(name);
    const own = linksOf(body).filter((link) => !/^(?:https:|#|data:)/.test(link));
    const root = name.startsWith('fa/') ? '../..' : '..';
    const pages = [`${root}/docs`, ...PAGES.map((page) => `${root}/docs/${page}`)];
    expect(own.filter((link) => !pages.includes(link.split('#')[0] ?? ''))).toEqual([]);
    expect(own).toEqual(expect.arrayContaining([...pages]));
  });

  it('returns the Persian quick start as a page in Persian from right to left, linked from the English one', async () => {
    const { body } = await get('fa/quick-start');
    expect(body).toContain('<html lang="fa" dir="rtl" data-root="../.."');
    expect(body).toContain('<pre tabindex="0" dir="ltr">');
    const main = (text: string): string => text.slice(text.indexOf('<main'));
    expect(linksOf(main((await get('quick-start')).body))).toContain('../docs/fa/quick-start');
    expect(linksOf(main(body))).toContain('../../docs/quick-start');
  });
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('a path with a slash at its end', () => {
  it.each(PAGES)('is the same page, but for the way from there to the service: %s', async (name) => {
    const [plain, slashed] = [await get(name), await get(`${name}/`)];
    expect(slashed.status).toBe(200);
    expect(linksOf(slashed.body).map((link) => link.replace('../', ''))).toEqual(
      linksOf(plain.body).map((link) => link),
    );
  });
});

describe('a text file', () => {
  it.each(GUIDE_NAMES.map((name) => `${name}.md`))(
    '%s is the Markdown of the guide, with links to files that are served',
    async (name) => {
      const { status, headers, body } = await get(name);
      expect([status, headers['Content-Type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(body).toMatch(/^(?:<div dir="rtl">\s+)?# /);
      const links = [...body.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link]) => String(link));
      const own = links
        .filter((link) => !/^https?:/.test(link))
        .map((link) => new URL(link, `https://a/docs/${name}`).pathname);
      expect(own.filter((path) => !SERVED.includes(path))).toEqual([]);
    },
  );
});

describe('the client', () => {
  it('is one file with its version in the first line, and the license of the package that it contains', async () => {
    const { status, headers, body } = await get('buyer-linking-client.mjs');
    expect([status, headers['Content-Type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(body.split('\n', 1)).toEqual([`// buyer-linking-client ${client.version}, Apache-2.0`]);
    expect(body).toContain('  buyerLinking,\n');
    expect(body).not.toMatch(/^import |^export .* from | from '/m);
    expect(body).toMatch(/^\/\/ Contains openapi-fetch:\n\/\/\n\/\/ MIT License\n/m);
  });

  it('in Python is the file of the repository as it is', async () => {
    const file = new URL('../../client/python/buyer_linking.py', import.meta.url);
    const { headers, body } = await get('buyer_linking.py');
    expect(headers['Content-Type']).toBe('text/x-python; charset=utf-8');
    expect(body).toBe(await readFile(file, 'utf8'));
  });
});

describe('the index of the search', () => {
  it('is JSON that is cacheable for five minutes', async () => {
    const { status, headers, body } = await get('search');
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      200,
      'application/json',
      'public, max-age=300',
    ]);
    expect(JSON.parse(body).length).toBeGreaterThan(100);
  });
});

describe('404', () => {
  it.each([
    ['nothing', '..'],
    ['nothing/', '../..'],
    ['fa/nothing', '../..'],
    ['a/b/c/d/e', '../../../../..'],
  ])('returns a page to a browser that asks for %s, with links relative to it', async (name, root) => {
    const { status, headers, body } = await get(name, BROWSER);
    expect([status, headers['Content-Type'], headers['Cache-Control'], headers.Vary]).toEqual([
      404,
      'text/html; charset=utf-8',
      'no-store',
      'Accept',
    ]);
    expect(body).toContain('<h1>Page not found</h1>');
    expect(body).toContain(`data-root="${root}"`);
    const links = linksOf(body).filter((link) => !/^(?:#|data:)/.test(link));
    expect([...new Set(links)].sort()).toEqual(
      ['', ...PAGES.map((page) => `/${page}`)].map((page) => `${root}/docs${page}`).sort(),
    );
  });

  it.each(['a/b/c/d/e/f', 'errors'.padEnd(9_900, '/')])(
    'returns a short problem to a browser too for a path of more than five segments',
    async (name) => {
      const { status, body } = await get(name, BROWSER);
      expect([status, JSON.parse(body).code]).toEqual([404, 'not_found']);
    },
  );

  it.each([
    'nothing',
    'reference',
    'not-found',
    'fa',
    'fa.quick-start',
    'quick-start.json',
    '..%2f..%2fpackage.json',
    '../package.json',
    'toString',
    '',
  ])('returns no other file, and a problem to a program: %j', async (name) => {
    const { status, body } = await get(name);
    expect([status, JSON.parse(body).code]).toEqual([404, 'not_found']);
  });
});
