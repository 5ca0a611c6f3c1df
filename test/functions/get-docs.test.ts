import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { handle } from '#functions/get-docs.ts';
import { buildDocument } from '#reference/openapi/document.ts';
import { referencePage } from '#reference/pages/reference-page.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { problemsOf } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { LOCAL_SITE } from '#test/reference/pages/sites.ts';
import { callForText } from './docs-call.ts';

/** The weight at which the page still arrives with the first round trips of a slow connection. */
const MAX_COMPRESSED_BYTES = 30_000;

const document = JSON.parse(JSON.stringify(buildDocument()));
const page = referencePage(document, LOCAL_SITE);

const getDocs = (path = '/docs') =>
  callForText(
    endpoint(routes['get-docs'], () => ({ read: async () => page }), handle),
    path,
  );

/** The names of one word stay without a link. */
const linkTo = (code: string): string =>
  code.includes('_') ? `<a href="./docs/errors#${code}">${code}</a>` : code;

const published = allRoutes.filter(({ tag }) => tag !== undefined);

const sectionOf = (body: string, name: string): string =>
  body.slice(body.indexOf(`<section class="operation" id="${name}"`)).split('</section>')[0] ?? '';

describe('200', () => {
  it('returns a page that is cacheable for five minutes', async () => {
    const { status, headers, body } = await getDocs();
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(body).toMatch(/^<!doctype html>/);
  });

  it('has a policy without unsafe sources and with a hash for each inline part', async () => {
    const { headers, body } = await getDocs();
    const policy = headers['Content-Security-Policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const hashes = [...body.matchAll(/<(script|style)>([\s\S]*?)<\/\1>/g)].map(
      ([, tag, text]) => `${tag}-src 'sha256-${createHash('sha256').update(String(text)).digest('base64')}'`,
    );
    expect(hashes).toHaveLength(2);
    expect(hashes.filter((hash) => !policy.includes(hash))).toEqual([]);
    expect(body).not.toMatch(/\sstyle="|\son\w+="|javascript:/);
  });

  it('sends no referrer and forbids frames', async () => {
    const { headers } = await getDocs();
    expect(headers).toMatchObject({
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': expect.stringContaining("frame-ancestors 'none'"),
    });
  });

  it('has relative links only, so that it works under a stage path', async () => {
    const { body } = await getDocs();
    const links = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => String(link));
    expect(links.filter((link) => /^(?:\/|https?:)/.test(link))).toEqual([]);
    expect(links).toEqual(
      expect.arrayContaining(['./v1/openapi.json', './docs/quick-start', '#create-user']),
    );
  });

  it('is the same page with a slash at the end of the path, but for the way from there to the service', async () => {
    const { status, body } = await getDocs('/docs/');
    expect(status).toBe(200);
    expect(body).toContain(' data-root=".."');
    expect(body.replaceAll('../', './').replace('data-root=".."', 'data-root="."')).toBe(
      (await getDocs()).body,
    );
  });

  it('links only to parts of the page that exist', async () => {
    const { body } = await getDocs();
    const targets = [...body.matchAll(/href="#([^"]*)"/g)].map(([, id]) => String(id));
    expect(targets.filter((id) => !body.includes(` id="${id}"`))).toEqual([]);
    const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('is at most 140 KB, about 8 for an operation, and small enough to arrive at once', async () => {
    expect(Buffer.byteLength((await getDocs()).body)).toBeLessThanOrEqual(140 * 1024);
    expect(gzipSync((await getDocs()).body).byteLength).toBeLessThan(MAX_COMPRESSED_BYTES);
  });

  it('ends with the operations that return this documentation', async () => {
    const { body } = await getDocs();
    const ids = [...body.matchAll(/<section class="(?:operation|chapter)" id="([^"]+)"/g)].map(
      ([, id]) => id,
    );
    expect(ids.slice(-2)).toEqual(['get-openapi', 'get-docs']);
  });

  it('sets error codes and fields in prose as code, with links to what describes them', async () => {
    const [, prose = ''] =
      /<p>(Checks that the phone is a registered buyer.*?)<\/p>/.exec((await getDocs()).body) ?? [];
    expect(prose).toContain('<code><a href="#create-user.birth_date">birth_date</a></code>');
    expect(prose).toContain('<code><a href="./docs/errors#too_many_attempts">too_many_attempts</a></code>');
  });

  it('escapes the text of the document', () => {
    const tag = { name: '<script>alert(1)</script>', description: '"&' };
    const { body } = referencePage({ ...document, tags: [tag] }, LOCAL_SITE);
    expect(body).toContain('<h2>&lt;script&gt;alert(1)&lt;/script&gt;</h2><p>&quot;&amp;</p>');
  });
});

describe('each operation on the page without JavaScript', () => {
  const rows = published.map((route) => [route.name, route] as const);

  itForAll(rows)('has its method, path, every field and every error code', async (name, route) => {
    const section = sectionOf((await getDocs()).body, name);
    const fields = [route.body, route.query, route.pathParameters?.schema].flatMap((schema) =>
      Object.keys(schema?.entries ?? {}),
    );
    const expected = [
      `>${route.method}</span> <code>${route.path}</code>`,
      ...fields.map((field) => `<code class="name">${field}</code>`),
      ...route.problems.map(
        (code) => `<td>${PROBLEMS[code].status}</td><td><code>${linkTo(code)}</code></td>`,
      ),
      '<a href="#errors">common errors</a>',
      ...problemsOf(route)
        .filter((code) => !route.problems.includes(code))
        .map((code) => ` ${PROBLEMS[code].status} <code>${linkTo(code)}</code>`),
    ];
    expect(expected.filter((text) => !section.includes(text))).toEqual([]);
  });
});

describe('create-user on the page', () => {
  it('shows 201 before 200, and the fields of their common body once', async () => {
    const section = sectionOf((await getDocs()).body, 'create-user');
    expect(section.indexOf('>201</b>')).toBeGreaterThan(-1);
    expect(section.indexOf('>201</b>')).toBeLessThan(section.indexOf('>200</b>'));
    expect(section.match(/<code class="name">created_at<\/code>/g)).toHaveLength(1);
  });
});

describe('the common errors', () => {
  it('are described once, with their meanings, in the chapter to which each operation links', async () => {
    const { body } = await getDocs();
    const chapter = body.slice(body.indexOf('id="errors"')).split('</section>')[0] ?? '';
    const codes = published.flatMap((route) => problemsOf(route));
    expect(codes.filter((code) => !chapter.includes(`<code>${linkTo(code)}</code></td>`))).toEqual([]);
    expect(body.match(/The body is over 16 KB\./g)).toHaveLength(1);
  });
});
