import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handle } from '#functions/get-guide.ts';
import { writePages } from '#lib/docs-page/write-pages.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { GUIDE_NAMES, pageReader } from '#shared/pages.ts';
import { routes } from '#shared/routes.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { callForText } from './docs-call.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'buyer-linking-guides-'));
  await writePages(folder);
});

afterAll(() => rm(folder, { recursive: true }));

const handler = endpoint(routes['get-guide'], handle, () => ({
  readPage: pageReader(folder),
  clock: fakeClock('2026-11-21T08:00:00Z'),
}));

const get = (guide: string) => callForText(handler, `/docs/${guide}`, { guide });

const linksOf = (body: string) => [...body.matchAll(/href="([^"]*)"/g)].map(([, link]) => String(link));

describe('200', () => {
  it.each(GUIDE_NAMES)('returns %s as a page with a strict policy', async (name) => {
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

  it.each(GUIDE_NAMES)('links from %s only to pages of the deployment, relative to it', async (name) => {
    const { body } = await get(name);
    const own = linksOf(body).filter((link) => !/^(?:https:|#|data:)/.test(link));
    const pages: readonly string[] = ['../docs', ...GUIDE_NAMES];
    expect(own.filter((link) => !pages.includes(link.split('#')[0] ?? ''))).toEqual([]);
    expect(own).toEqual(expect.arrayContaining([...pages]));
  });
});

describe('404', () => {
  it.each([
    'nothing',
    'reference',
    'quick-start.md',
    'quick-start.json',
    '..%2f..%2fpackage.json',
    '../package.json',
    'toString',
    '',
  ])('returns no other file: %j', async (name) => {
    const { status, body } = await get(name);
    expect([status, JSON.parse(body).code]).toEqual([404, 'not_found']);
  });
});
