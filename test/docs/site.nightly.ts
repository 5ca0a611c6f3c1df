/** The documentation site as a whole: every page in a browser, and two builds of the same sources. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSite } from '#lib/site.ts';
import { describeInBrowser, useBrowser } from './browser.ts';
import { filesOf } from './built-site.ts';
import { linksIn, violationsIn } from './site-page.ts';

describe('two builds of the same sources', () => {
  it('are equal, byte for byte', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-site-'));
    try {
      const builds = [];
      for (const name of ['first', 'second']) {
        const site = join(folder, name);
        await buildSite(site, 'of a test');
        const hashes = filesOf(site, '**/*').map(async (file) => [
          file.slice(site.length),
          createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        ]);
        builds.push(Object.fromEntries(await Promise.all(hashes)));
      }
      expect(Object.keys(builds[0]).length).toBeGreaterThan(300);
      expect(builds[1]).toEqual(builds[0]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 400_000);
});

describeInBrowser('every page of the documentation site', () => {
  const docs = useBrowser();

  /** The addresses of both sidebars. */
  const pagesBelow = async (baseUrl: string): Promise<readonly string[]> => {
    const { page } = await docs.open(`${baseUrl}/docs`);
    const english = await linksIn(page, '.VPSidebar a');
    await page.goto(`${baseUrl}/docs/fa/quick-start`);
    const pages = [...new Set([...english, ...(await linksIn(page, '.VPSidebar a'))])];
    expect(pages.length).toBeGreaterThan(40);
    return pages;
  };

  it.each(['light', 'dark'] as const)(
    'opens in %s without an error in the console, without a request to another origin, and breaks no rule of WCAG 2.2 AA that axe checks',
    async (colorScheme) => {
      const pages = await pagesBelow(docs.baseUrl);
      const { page, faults } = await docs.open(`${docs.baseUrl}/docs`, { colorScheme });
      for (const address of pages) {
        expect(address).toMatch(`${docs.baseUrl}/docs/`);
        const response = await page.goto(address);
        await page.waitForLoadState('networkidle');
        if (address.includes('/operations/')) await page.locator('.vp-code-group pre').first().waitFor();
        const headings = await page.locator('.VPDoc h1').count();
        expect([address, response?.status(), headings]).toEqual([address, 200, 1]);
        expect([address, ...(await violationsIn(page))]).toEqual([address]);
      }
      expect(faults).toEqual([]);
    },
    600_000,
  );

  it('is served below a stage with its own assets', async () => {
    const assets = new Set<string>();
    for (const address of await pagesBelow(docs.stagedUrl)) {
      const response = await fetch(address);
      expect([address, response.status]).toEqual([address, 200]);
      const html = await response.text();
      expect(html).not.toContain('/__base__');
      for (const [, path = ''] of html.matchAll(/(?:href|src)="(\/[^"]*\/assets\/[^"]+)"/g)) assets.add(path);
    }
    expect(assets.size).toBeGreaterThan(40);
    const { origin } = new URL(docs.stagedUrl);
    for (const path of assets) expect([path, (await fetch(origin + path)).status]).toEqual([path, 200]);
  }, 120_000);
});
