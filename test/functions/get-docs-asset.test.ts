import { buildDocument } from '#bin/openapi/document.ts';
import { handle } from '#functions/get-docs-asset.ts';
import { docsPageAssets } from '#shared/docs-page/assets.ts';
import { DOCS_PAGE_FILES } from '#shared/docs-page/files.ts';
import { docsPage } from '#shared/docs-page/page.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { routes } from '#shared/routes.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { callForText } from './docs-call.ts';

const deps = { assets: docsPageAssets(false), clock: fakeClock('2026-11-21T08:00:00Z') };
const handler = endpoint(routes['get-docs-asset'], handle, () => deps);

const get = (file: string) => callForText(handler, `/docs/${file}`, { file });

const filesOfPage = () =>
  [...docsPage(buildDocument()).html.matchAll(/"docs\/([^"]+)"/g)].map(([, file]) => String(file));

/** The largest response of a Lambda function. */
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024;

describe('200', () => {
  it.each([
    ['.js', 'text/javascript; charset=utf-8'],
    ['.css', 'text/css; charset=utf-8'],
    ['.txt', 'text/plain; charset=utf-8'],
  ])('returns the %s file with its content type, cacheable for a year', async (ending, contentType) => {
    const file = Object.keys(DOCS_PAGE_FILES).find((name) => name.endsWith(ending)) ?? '';
    const { status, headers, body } = await get(file);
    expect([
      status,
      headers['Content-Type'],
      headers['Cache-Control'],
      headers['X-Content-Type-Options'],
    ]).toEqual([200, contentType, 'public, max-age=31536000, immutable', 'nosniff']);
    expect(body.length).toBeGreaterThan(1000);
  });

  it('returns every file of the page, each small enough for one response', async () => {
    const responses = await Promise.all(filesOfPage().map(get));
    expect(responses.length).toBeGreaterThan(1);
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    expect(responses.filter(({ body }) => Buffer.byteLength(body) > MAX_RESPONSE_BYTES)).toEqual([]);
  });
});

describe('404', () => {
  it.each(['nothing.js', 'index.html', '..%2f..%2fpackage.json', '../package.json', 'toString', ''])(
    'returns no other file: %j',
    async (file) => {
      const { status, body } = await get(file);
      expect([status, JSON.parse(body).code]).toEqual([404, 'not_found']);
    },
  );
});
