/** The guides in a real browser, served by the whole local service. */
import type { Page } from 'playwright-core';
import { GUIDE_NAMES } from '#shared/docs/files.ts';
import { itForAll } from '#test/for-all.ts';
import {
  accessibilityFaults,
  darkModeFaults,
  describeInBrowser,
  openDocs,
  PHONE,
  PUBLIC_HOST,
  useBrowser,
  widthOf,
} from './browser.ts';
import { behindStage } from './staged.ts';

describeInBrowser('the guides', () => {
  const docs = useBrowser();

  /** No block, no diagram and no table scrolls to the side, and the page does not. */
  const expectFits = async (page: Page): Promise<void> => {
    expect(await widthOf(page)).toBe(page.viewportSize()?.width);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('.block pre, .diagram, .scroll')].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.innerText)",
      ),
    ).toEqual([]);
  };

  it.each(GUIDE_NAMES)(
    'shows the guide %s without errors and with nothing of WCAG 2.2 AA for axe, in dark mode too, and fits a wide screen and a phone',
    async (name) => {
      const { page, faults } = await docs.open({ path: `/docs/${name}` });
      expect(
        await page.evaluate('[...document.images].filter(({ naturalWidth }) => naturalWidth === 0).length'),
      ).toBe(0);
      await expectFits(page);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await darkModeFaults(page)).toEqual([]);
      await page.setViewportSize(PHONE.viewport);
      await expectFits(page);
      expect(faults).toEqual([]);
    },
  );

  // What differs on a phone is the frame, which all guides share.
  it.each(['quick-start', 'fa/quick-start'])(
    'shows the guide %s on a phone with nothing of WCAG 2.2 AA for axe',
    async (name) => {
      const { page } = await docs.open({ ...PHONE, path: `/docs/${name}` });
      expect(await accessibilityFaults(page)).toEqual([]);
    },
  );

  // That of every page is tested without a browser, in get-guide.test.ts.
  itForAll(['/docs', '/docs/quick-start', '/docs/fa/quick-start', '/docs/key'])(
    'show the same samples and links with a slash at the end of the path',
    async (plain) => {
      const seen: unknown[] = [];
      for (const path of [plain, `${plain}/`]) {
        const { page, faults } = await docs.open({ path });
        const links: readonly string[] = await page.evaluate('[...document.links].map(({ href }) => href)');
        const others = links.map((link) => link.replace(`${plain}/#`, `${plain}#`));
        seen.push({ links: others, samples: await page.locator('pre').allInnerTexts(), faults });
        await page.close();
      }
      expect(seen[1]).toEqual(seen[0]);
    },
  );

  it('copies a command of a guide without its caption', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await docs.open({ permissions, path: '/docs/errors' });
    await page.locator('.block').first().getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('curl -s $BUYER_LINKING_URL/v1/users');
  });

  it('fills the address and the key of the demo seller into the samples', async () => {
    const { page, requested } = await docs.open({ path: '/docs/quick-start' });
    const [own, demo] = await page.locator('.block pre').allInnerTexts();
    expect(own).toBe(
      [
        `BUYER_LINKING_URL=${docs.baseUrl}`,
        'BUYER_LINKING_API_KEY=blk_…',
        'export BUYER_LINKING_URL BUYER_LINKING_API_KEY',
      ].join('\n'),
    );
    expect(demo).toBe(
      [
        `BUYER_LINKING_URL=${docs.baseUrl}`,
        `BUYER_LINKING_API_KEY=${docs.service.demo.keys.free}`,
        'export BUYER_LINKING_URL BUYER_LINKING_API_KEY',
      ].join('\n'),
    );
    expect(requested).toEqual([`${docs.baseUrl}/docs/quick-start`, `${docs.baseUrl}/_local/demo`]);
  });

  it('leads from the English quick start to the Persian one, which is read from right to left', async () => {
    const { page, faults } = await docs.open({ path: '/docs/quick-start' });
    await page.locator('main').getByRole('link', { name: 'فارسی' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/fa/quick-start`);
    const places = (await page.evaluate(
      "['.contents', '.headings', 'pre'].map((part) => [document.querySelector(part).getBoundingClientRect().x, getComputedStyle(document.querySelector(part)).direction])",
    )) as [number, string][];
    const [[contents], [headings], [, code]] = places as [[number], [number], [number, string]];
    expect(contents).toBeGreaterThan(headings);
    expect(code).toBe('ltr');
    await page.getByRole('searchbox', { name: 'جستجو' }).fill('limits');
    await page.getByText('مورد پیدا شد').waitFor();
    await page.getByRole('searchbox', { name: 'جستجو' }).fill('');
    await page.locator('.contents').getByRole('link', { name: 'شروع سریع (انگلیسی)' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/quick-start`);
    expect(faults).toEqual([]);
  });

  it('shows a page with working links for an unknown path under /docs', async () => {
    const { page } = await docs.open({ path: '/docs/fa/unknown' });
    expect(await page.locator('h1').innerText()).toBe('Page not found');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('main').getByRole('link', { name: 'quick start' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/quick-start`);
  });

  it('finds an operation by its error code, and shows all contents again without a search', async () => {
    const { page, faults, requested } = await docs.open();
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('user_conflict');
    await page.locator('#results').getByText('Link a buyer').waitFor();
    expect(await page.locator('#results li').first().innerText()).toMatch(/^user_conflict\s+Errors$/);
    expect(await page.locator('#lists').isVisible()).toBe(false);
    await search.fill('');
    await page.locator('#lists').waitFor({ state: 'visible' });
    expect(await page.locator('#results li').count()).toBe(0);
    expect(requested).toEqual([
      `${docs.baseUrl}/docs`,
      `${docs.baseUrl}/_local/demo`,
      `${docs.baseUrl}/docs/search`,
    ]);
    expect(faults).toEqual([]);
  });

  it('opens the first result of a search on another page by keyboard alone', async () => {
    const { page } = await docs.open({ path: '/docs/fa/quick-start' });
    await page.keyboard.press('/');
    await page.keyboard.type('failed-checks-per-hour');
    await page.locator('#results a').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${docs.baseUrl}/docs/limits#failed-checks-per-hour`);
    await page.keyboard.press('Control+k');
    expect(await page.evaluate('document.activeElement.id')).toBe('search');
  });

  it('finds what has another name here by the words that readers know', async () => {
    const { page } = await docs.open();
    const search = page.getByRole('searchbox', { name: 'Search' });
    const found: Record<string, string> = {};
    for (const word of ['webhooks', 'callback', 'idempotency', 'sdk', 'seller id', 'sign in']) {
      await search.fill('');
      await search.fill(word);
      await page.locator('#results li').first().waitFor();
      found[word] = await page.locator('#results').innerText();
    }
    expect(found).toEqual({
      webhooks: expect.stringContaining('Read what changed'),
      callback: expect.stringContaining('Keep in step'),
      idempotency: expect.stringContaining('Retries'),
      sdk: expect.stringContaining('TypeScript client'),
      'seller id': expect.stringContaining('Access tokens'),
      'sign in': expect.stringMatching(/^Sign a buyer in/),
    });
  });

  it('finds an answer by a question as people type it, in English and in Persian', async () => {
    const { page } = await docs.open();
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('Is a key needed for one-time codes?');
    await page.locator('#results li').first().waitFor();
    expect(await page.locator('#results').innerText()).toMatch(
      /^API key for one-time codes\s+Sign a buyer in$/,
    );
    await search.fill('آیا کلید لازم است؟');
    await page.locator('#results').getByText('آیا برای کد یک‌بارمصرف کلید لازم است؟').waitFor();
  });

  it('types a slash into a field of a form', async () => {
    const { page } = await docs.open();
    await page.locator('#list-users-try [name="phone"]').fill('');
    await page.locator('#list-users-try [name="phone"]').press('/');
    expect(await page.locator('#list-users-try [name="phone"]').inputValue()).toBe('/');
  });

  it('opens the contents on a phone for the search, and closes them when a result is followed', async () => {
    const { page } = await docs.open({ ...PHONE, path: '/docs/errors' });
    await page.keyboard.press('/');
    await page.keyboard.type('retries');
    await page.getByRole('link', { name: 'Retries Errors' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/errors#retries`);
    await page.locator('#results').waitFor({ state: 'hidden' });
  });

  it('says that the search could not be loaded, and loads it at the next letter', async () => {
    const { page } = await docs.open();
    await page.route('**/docs/search', (route) => route.fulfill({ status: 503 }), { times: 1 });
    await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('e');
    await page.getByText('The search could not be loaded: status 503').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('r');
    await page.locator('#results a').first().waitFor();
  });

  // The samples of every guide of a deployment are tested without a browser, in site.test.ts.
  it('of a deployment show its address in their samples, and no value of the demo', async () => {
    const staged = await behindStage(docs.baseUrl, 'prod');
    const baseUrl = staged.baseUrl.replace('127.0.0.1', PUBLIC_HOST);
    const { page, requested } = await openDocs(docs.browser, baseUrl, { path: '/docs/quick-start' });
    const samples = (await page.locator('pre').allInnerTexts()).join('\n');
    expect(samples).toContain(`BUYER_LINKING_URL=${baseUrl}\nBUYER_LINKING_API_KEY=blk_…\n`);
    expect(samples).not.toContain('localhost');
    expect(await page.locator('blockquote').count()).toBe(0);
    expect(requested).toEqual([`${baseUrl}/docs/quick-start`]);
    await staged.close();
  });
});
