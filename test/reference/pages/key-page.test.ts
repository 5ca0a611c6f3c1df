import { createHash } from 'node:crypto';
import { guidePage } from '#reference/pages/guide-page.ts';
import { keyPage } from '#reference/pages/key-page.ts';
import { LOCAL_SITE } from './sites.ts';

const { headers, body } = keyPage(LOCAL_SITE);

/** Returns the text of the one element of this name. */
const inline = (markup: string, tag: 'script' | 'style'): string => {
  const found = [...markup.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))];
  expect(found).toHaveLength(1);
  return String(found[0]?.[1]);
};

describe('the page of a key', () => {
  it.each(['script', 'style'] as const)('allows its one %s by hash, without unsafe sources', (tag) => {
    const hash = createHash('sha256').update(inline(body, tag)).digest('base64');
    expect(headers['Content-Security-Policy']).toContain(`${tag}-src 'sha256-${hash}';`);
    expect(headers['Content-Security-Policy']).not.toMatch(/unsafe|https?:|\*/);
    expect(body).not.toMatch(/\sstyle="|\son\w+="|javascript:/);
  });

  it('is at most 120 KB', () => {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(120 * 1024);
  });

  it.each(['script', 'style'] as const)('adds its %s to no other page', (tag) => {
    const guide = inline(guidePage('limits', '# Limits', LOCAL_SITE).body, tag);
    expect(inline(body, tag).startsWith(guide)).toBe(true);
    expect(guide.length).toBeLessThan(inline(body, tag).length);
  });
});

describe('a link of a guide to the page of a key', () => {
  it.each(['limits', 'fa/quick-start'] as const)(
    'leads from %s to the page of the same deployment',
    (name) => {
      const text = '# Title\n\n[The page](http://localhost:3000/docs/key).';
      expect(guidePage(name, text, LOCAL_SITE).body).toContain(
        `<p><a href="{root}/docs/key">The page</a>.</p>`,
      );
    },
  );
});
