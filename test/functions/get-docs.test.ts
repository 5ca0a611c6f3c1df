import { createHash } from 'node:crypto';
import { buildDocument } from '#bin/openapi/document.ts';
import { handle } from '#functions/get-docs.ts';
import { docsPage } from '#shared/docs-page/page.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { callForText } from './docs-call.ts';

const getDocs = () => {
  const deps = { page: docsPage(buildDocument()), clock: fakeClock('2026-11-21T08:00:00Z') };
  return callForText(
    endpoint(routes['get-docs'], handle, () => deps),
    '/docs',
  );
};

const hashesIn = (html: string, tag: 'script' | 'style') =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(
    ([, text]) => `'sha256-${createHash('sha256').update(String(text)).digest('base64')}'`,
  );

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
    const hashes = [...hashesIn(body, 'script'), ...hashesIn(body, 'style')];
    expect(hashes).toHaveLength(2);
    expect(hashes.filter((hash) => !policy.includes(hash))).toEqual([]);
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
    expect(links).toContain('v1/openapi.json');
  });

  it('lists every operation without JavaScript', async () => {
    const { body } = await getDocs();
    const published = allRoutes.filter(({ tag }) => tag !== undefined);
    expect(published.filter(({ method, path }) => !body.includes(`${method} ${path}`))).toEqual([]);
  });
});
