/** The reference page and the guides in a real browser, served by the whole local service. */
import type { Page } from 'playwright-core';
import openApiDocument from '../../../openapi.json' with { type: 'json' };
import {
  accessibilityFaults,
  darkModeFaults,
  describeInBrowser,
  enterKey,
  execute,
  openDocs,
  PHONE,
  useBrowser,
  widthOf,
} from './browser.ts';
import { operations, sampleText } from './sample-text.ts';

/** The page shows the operations of a tag together. */
const inOrderOfPage = openApiDocument.tags.flatMap(({ name }) =>
  operations.filter(({ tags }) => tags[0] === name),
);

import { behindStage } from './staged.ts';

const visible = (page: Page, selector: string): Promise<readonly string[]> =>
  page.locator(`${selector}:visible`).allInnerTexts();

/** Returns the brightness of a color of the page, 0 to 255. */
const brightnessOf = (page: Page, selector: string, property: 'color' | 'backgroundColor'): Promise<number> =>
  page.evaluate(
    `getComputedStyle(document.querySelector('${selector}')).${property}.match(/[0-9.]+/g).slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0) / 3`,
  );

describeInBrowser('the reference page', () => {
  const docs = useBrowser();

  it.each([
    ['on a wide screen', {}],
    ['on a phone', PHONE],
  ])(
    'is shown by one response %s, without errors and with nothing of WCAG 2.2 AA for axe, in dark mode too',
    async (_, options) => {
      const { page, faults, requested } = await docs.open(options);
      await execute(page, 'list-users');
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await darkModeFaults(page)).toEqual([]);
      expect(faults).toEqual([]);
      // Only the local service is asked for the key of its demo seller.
      expect(requested.slice(0, 2)).toEqual([`${docs.baseUrl}/docs`, `${docs.baseUrl}/_local/demo`]);
    },
  );

  it('succeeds at the first Execute of the untouched page: list, link, read, remove', async () => {
    const { page, faults } = await docs.open();
    const first = await execute(page, 'first');
    expect([first.status, JSON.parse(first.body).page]).toEqual(['200', 1]);
    const created = await execute(page, 'create-user');
    expect([created.status, JSON.parse(created.body).display_name]).toEqual(['201', 'Sara Ahmadi']);
    expect((await execute(page, 'create-user')).status).toMatch(/^20[01]$/);
    const read = await execute(page, 'get-user');
    expect([read.status, JSON.parse(read.body)]).toEqual(['200', JSON.parse(created.body)]);
    expect((await execute(page, 'delete-user')).status).toBe('204');
    expect((await execute(page, 'send-otp')).status).toBe('202');
    expect(faults).toEqual([]);
  });

  it('shows the problem and the headers of an error response', async () => {
    const { page } = await docs.open();
    await enterKey(page, '');
    const { status, body } = await execute(page, 'create-user');
    expect([status, JSON.parse(body).code]).toEqual(['401', 'invalid_api_key']);
    await page.locator('#create-user-try .answer summary').click();
    expect(await page.locator('#create-user-try .answer details pre').innerText()).toContain(
      'x-request-id: ',
    );
  });

  it('uses an entered key in every form and stores it nowhere', async () => {
    const { page } = await docs.open();
    await enterKey(page, docs.service.demo.keys.read_only);
    expect((await execute(page, 'list-users')).status).toBe('200');
    expect((await execute(page, 'create-user')).status).toBe('403');
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).toBe('[{},{},""]');
  });

  it.each([
    ['a wide screen', { viewport: { width: 1280, height: 900 } }],
    ['a phone', PHONE],
  ])(
    'fits the width of %s with a response shown: no sample and no table scrolls to the side',
    async (_, options) => {
      const { page } = await docs.open(options);
      await execute(page, 'list-users');
      await page.locator('#list-users-try .answer summary').click();
      expect(await widthOf(page)).toBe(options.viewport.width);
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('pre, .scroll')].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.innerText)",
        ),
      ).toEqual([]);
    },
  );

  it('has light text on a dark background in dark mode, and the reverse otherwise', async () => {
    const { page } = await docs.open();
    const contrast = async (colorScheme: 'dark' | 'light'): Promise<number> => {
      await page.emulateMedia({ colorScheme });
      const text = await brightnessOf(page, 'main p', 'color');
      return text - (await brightnessOf(page, 'body', 'backgroundColor'));
    };
    expect(await contrast('dark')).toBeGreaterThan(120);
    expect(await contrast('light')).toBeLessThan(-120);
  });

  it('works under a stage path: requests, samples and guides', async () => {
    const staged = await behindStage(docs.baseUrl, 'dev');
    const { page, faults, requested } = await openDocs(docs.browser, staged.baseUrl);
    await enterKey(page, docs.service.demo.keys.read_only);
    expect((await execute(page, 'list-users')).status).toBe('200');
    expect(await page.locator('#list-users .samples pre').innerText()).toContain(
      `'${staged.baseUrl}/v1/users?page_size=20'`,
    );
    await page.click('.contents a[href="./docs/linking"]');
    await page.click('.contents a[href="../docs/errors"]');
    await page.click('.contents a[href="../docs"]');
    expect(await page.locator('.operation').count()).toBe(operations.length + 1);
    expect(faults).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(`${staged.baseUrl}/`))).toEqual([]);
    await staged.close();
  });

  it('lists every operation and shows a sample for curl without JavaScript', async () => {
    const { page } = await docs.open({ javaScriptEnabled: false });
    expect(await page.locator('.contents a .method').count()).toBe(operations.length);
    expect(await visible(page, '.samples pre')).toHaveLength(operations.length);
    expect(await visible(page, '.try')).toEqual([]);
  });

  it('shows every sample in the selected language, by keyboard too', async () => {
    const { page, faults } = await docs.open();
    await page.locator('#create-user .samples input:checked').focus();
    for (const language of ['typescript', 'python', 'php', 'curl'] as const) {
      await page.keyboard.press('ArrowRight');
      expect(await visible(page, '.samples pre')).toEqual(
        inOrderOfPage.map((operation) => sampleText(operation, language, docs.baseUrl)),
      );
      expect(await page.locator(`.tabs [value="${language}"]:checked`).count()).toBe(operations.length);
    }
    expect(faults).toEqual([]);
  });

  it('copies the selected sample', async () => {
    const { page } = await docs.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('#get-user .samples').getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl '.*usr_/);
  });

  it('closes the contents on a phone when a link is followed', async () => {
    const { page } = await docs.open(PHONE);
    await page.getByText('Contents', { exact: true }).click();
    await page.locator('.contents a[href="#delete-user"]').click();
    expect(await visible(page, '.contents li')).toEqual([]);
    await page.locator('#delete-user h3').waitFor({ state: 'visible' });
  });

  it('is usable by keyboard', async () => {
    const { page } = await docs.open();
    await page.locator('#list-users-try [data-in="key"]').focus();
    await page.keyboard.press('Enter');
    await page.locator('#list-users-try .answer').waitFor({ state: 'visible' });
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    expect(await page.locator('main').count()).toBe(1);
  });

  it('of a deployment asks for no demo key, enters none, and names whom to ask', async () => {
    const staged = await behindStage(docs.baseUrl, 'dev');
    const { page, requested } = await openDocs(docs.browser, staged.baseUrl);
    expect(requested).toEqual([`${staged.baseUrl}/docs`]);
    expect(await page.locator('#first-try [data-in="key"]').inputValue()).toBe('');
    expect(await page.locator('footer').innerText()).toBe('Help: api@example.com · Status of the service');
    expect(await accessibilityFaults(page)).toEqual([]);
    await staged.close();
  });
});
