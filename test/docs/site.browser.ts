/** The documentation site in a browser, on `npm start` and below a stage path as on the default endpoint of API Gateway. */
import type { Page } from 'playwright-core';
import { describeInBrowser, useBrowser } from './browser.ts';
import { behindStage } from './staged.ts';

const linksIn = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));

/** A busy machine needs a while for the script of an operation. */
const WITHIN_MS = 60_000;

/** Enters a key and sends the request of an operation as the page shows it. Returns what the page shows of the response. */
const tryOut = async (page: Page, key: string) => {
  // The samples are drawn in the browser: the form works then too.
  await page.locator('.vp-code-group pre').first().waitFor({ timeout: WITHIN_MS });
  await page.locator('input[name="X-Api-Key"]').fill(key);
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByText('Response time').waitFor({ timeout: WITHIN_MS });
  const [, response = ''] = (await page.locator('.VPDoc').innerText()).split('Try it out');
  return response.split('Samples')[0] ?? '';
};

describeInBrowser('the documentation site', () => {
  const docs = useBrowser();
  let staged: Awaited<ReturnType<typeof behindStage>>;

  beforeAll(async () => {
    // Builds the site if its sources changed.
    expect((await fetch(`${docs.baseUrl}/docs`)).status).toBe(200);
    staged = await behindStage(docs.baseUrl);
  });
  afterAll(() => staged?.close());

  it('opens every page of both sidebars without an error in the console and without a request to another origin', async () => {
    const { page, faults } = await docs.open(`${docs.baseUrl}/docs`);
    const english = await linksIn(page, '.VPSidebar a');
    await page.goto(`${docs.baseUrl}/docs/fa/quick-start`);
    const pages = new Set([...english, ...(await linksIn(page, '.VPSidebar a'))]);
    expect(pages.size).toBeGreaterThan(40);
    for (const address of pages) {
      expect(address).toMatch(`${docs.baseUrl}/docs/`);
      const response = await page.goto(address);
      await page.waitForLoadState('networkidle');
      expect([address, response?.status(), await page.locator('.VPDoc h1').count()]).toEqual([
        address,
        200,
        1,
      ]);
    }
    expect(faults).toEqual([]);
  }, 400_000);

  it('serves below a stage every page of both sidebars with its own assets, and opens one of each kind without an error', async () => {
    const { page, faults } = await docs.open(`${staged.baseUrl}/docs`);
    const english = await linksIn(page, '.VPSidebar a');
    await page.goto(`${staged.baseUrl}/docs/fa/quick-start`);
    const pages = [...new Set([...english, ...(await linksIn(page, '.VPSidebar a'))])];
    expect(pages.length).toBeGreaterThan(40);
    const assets = new Set<string>();
    for (const address of pages) {
      const response = await fetch(address);
      expect([address, response.status]).toEqual([address, 200]);
      const html = await response.text();
      expect(html).not.toContain('/__base__');
      for (const [, path = ''] of html.matchAll(/(?:href|src)="(\/[^"]*\/assets\/[^"]+)"/g)) assets.add(path);
    }
    expect(assets.size).toBeGreaterThan(40);
    const { origin } = new URL(staged.baseUrl);
    for (const path of assets) expect([path, (await fetch(origin + path)).status]).toEqual([path, 200]);
    for (const name of ['linking', 'typescript-client', 'changelog', 'fa/errors', 'operations/list-events']) {
      await page.goto(`${staged.baseUrl}/docs/${name}`);
      await page.waitForLoadState('networkidle');
      expect([name, await page.locator('.VPDoc h1').count()]).toEqual([name, 1]);
    }
    expect(faults).toEqual([]);
  }, 120_000);

  describe.each([
    ['at the root', () => docs.baseUrl],
    ['below a stage', () => staged.baseUrl],
  ])('%s', (_where, baseUrl) => {
    it('sends the request of the list and of a link, and shows the response', async () => {
      const { page, faults } = await docs.open(`${baseUrl()}/docs/operations/create-user`);
      expect(await page.locator('.vp-code-group .language-bash').first().innerText()).toContain(
        `curl ${baseUrl()}/v1/users`,
      );
      expect(await tryOut(page, docs.demo.keys.free)).toMatch(/\b20[01]\b[\s\S]*"usr_/);
      await page.goto(`${baseUrl()}/docs/operations/list-users`);
      await page.waitForLoadState('networkidle');
      expect(await tryOut(page, docs.demo.keys.free)).toMatch(/\b200\b[\s\S]*"total"/);
      expect(faults).toEqual([]);
    });

    it('keeps no key that a reader types', async () => {
      const { page } = await docs.open(`${baseUrl()}/docs/operations/list-users`);
      await tryOut(page, docs.demo.keys.free);
      expect(
        await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
      ).not.toContain(docs.demo.keys.free);
    });

    it('shows plan and chart of a key', async () => {
      const { page, faults } = await docs.open(`${baseUrl()}/docs/key`);
      await page.locator('.key-form input').fill(docs.demo.keys.free);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.locator('.key-chart').waitFor();
      expect(await page.getByRole('row', { name: 'Plan' }).innerText()).toMatch(/free/);
      expect(await page.locator('.key-chart rect').count()).toBeGreaterThan(0);
      expect(faults).toEqual([]);
    });

    it('leads from an address with a slash at its end to the page', async () => {
      const { page, faults } = await docs.open(`${baseUrl()}/docs/quick-start/`);
      expect(page.url()).toBe(`${baseUrl()}/docs/quick-start`);
      expect(await page.locator('.VPDoc h1').innerText()).toContain('Quick start');
      expect(faults).toEqual([]);
    });
  });

  it.each([
    ['/docs', 'user_conflict', 'docs/errors#'],
    ['/docs', 'external_id', 'docs/linking#external-id'],
    ['/docs', 'external_id', 'docs/operations/create-user'],
    ['/docs/fa/quick-start', 'پیوند', 'docs/fa/linking'],
  ])('finds on %s with %s the page %s', async (path, word, found) => {
    const { page } = await docs.open(`${docs.baseUrl}${path}`);
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill(word);
    await page.locator('#localsearch-list .result').first().waitFor();
    expect((await linksIn(page, '#localsearch-list .result')).join('\n')).toContain(found);
  });

  it('shows a Persian page from right to left, and an error code at its address', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/fa/errors#user_conflict`);
    expect(
      await page.evaluate('[document.documentElement.lang, getComputedStyle(document.body).direction]'),
    ).toEqual(['fa', 'rtl']);
    expect(await page.locator('#user_conflict').innerText()).toContain('409');
  });
});
