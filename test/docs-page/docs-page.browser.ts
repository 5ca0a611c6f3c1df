/** The reference page in a real browser, served by the whole local service. */
import type { Browser, Page } from 'playwright-core';
import { buildDocument } from '#bin/openapi/document.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import {
  accessibilityFaults,
  authorize,
  describeInBrowser,
  launchBrowser,
  openDocs,
  sendFromPage,
} from './browser.ts';
import { behindStage } from './staged.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DARK = { colorScheme: 'dark' } as const;

const operationIds = Object.values(buildDocument().paths).flatMap((methods) =>
  Object.values(methods).map(({ operationId }) => operationId),
);

const openAll = async (page: Page): Promise<void> => {
  const controls = page.locator('.opblock-summary-control');
  for (let index = 0; index < (await controls.count()); index += 1) await controls.nth(index).click();
};

const widthOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth');

/** Returns the brightness of a color of the page, 0 to 255. */
const brightnessOf = (page: Page, selector: string, property: 'color' | 'backgroundColor'): Promise<number> =>
  page.evaluate(
    `getComputedStyle(document.querySelector('${selector}')).${property}.match(/[0-9.]+/g).slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0) / 3`,
  );

describeInBrowser('the reference page', () => {
  let browser: Browser;
  let service: RunningService;

  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'] });
    browser = await launchBrowser();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await removeDataFolder(service?.folder);
  }, 30_000);

  it.each([
    ['on a wide screen', {}],
    ['in dark mode', DARK],
    ['on a phone', PHONE],
    ['on a phone in dark mode', { ...PHONE, ...DARK }],
  ])('loads %s without errors and from its own origin only', async (_title, options) => {
    const { page, faults } = await openDocs(browser, service.demo.base_url, options);
    await openAll(page);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('lists every operation of the document', async () => {
    const { page } = await openDocs(browser, service.demo.base_url);
    const shown = await page.locator('.opblock').evaluateAll((blocks) => blocks.map((block) => block.id));
    expect(operationIds.filter((id) => !shown.some((block) => block.endsWith(`-${id}`)))).toEqual([]);
    expect(shown).toHaveLength(operationIds.length);
    await page.context().close();
  });

  it('sends a real request with the entered key and shows the response', async () => {
    const { page, faults } = await openDocs(browser, service.demo.base_url);
    await authorize(page, service.demo.keys.free);
    const { status, body } = await sendFromPage(page, 'list-users');
    expect([status, JSON.parse(body)]).toEqual([
      '200',
      { data: [], page: 1, page_size: 20, total: 0, total_pages: 0 },
    ]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('sends the example body of an operation, and the service accepts it', async () => {
    const { page } = await openDocs(browser, service.demo.base_url);
    await authorize(page, service.demo.keys.app);
    const { status, body } = await sendFromPage(page, 'send-otp');
    expect([status, JSON.parse(body)]).toEqual(['202', { expires_in: 300, resend_after: 60 }]);
    await page.context().close();
  });

  it('shows the problem of an error response', async () => {
    const { page } = await openDocs(browser, service.demo.base_url);
    const { status, body } = await sendFromPage(page, 'create-user');
    expect([status, JSON.parse(body).code]).toEqual(['401', 'invalid_api_key']);
    await page.context().close();
  });

  it('stores the key nowhere', async () => {
    const { page } = await openDocs(browser, service.demo.base_url);
    await authorize(page, service.demo.keys.free);
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).toBe('[{},{},""]');
    await page.context().close();
  });

  it('fits the width of a phone with every operation open and a response shown', async () => {
    const { page } = await openDocs(browser, service.demo.base_url, PHONE);
    await sendFromPage(page, 'list-users');
    await page.reload();
    await page.waitForSelector('.opblock');
    await openAll(page);
    expect(await widthOf(page)).toBe(PHONE.viewport.width);
    await page.context().close();
  });

  it('has light text on a dark background in dark mode, and the reverse otherwise', async () => {
    const dark = (await openDocs(browser, service.demo.base_url, DARK)).page;
    const light = (await openDocs(browser, service.demo.base_url)).page;
    const readings = await Promise.all(
      [dark, light].flatMap((page) => [
        brightnessOf(page, '.info p', 'color'),
        brightnessOf(page, 'body', 'backgroundColor'),
      ]),
    );
    const [darkText, darkGround, lightText, lightGround] = readings as [number, number, number, number];
    expect(darkText - darkGround).toBeGreaterThan(120);
    expect(lightGround - lightText).toBeGreaterThan(120);
    await Promise.all([dark.context().close(), light.context().close()]);
  });

  it('works under a stage path and sends its requests there', async () => {
    const staged = await behindStage(service.demo.base_url, 'dev');
    const { page, faults, requested } = await openDocs(browser, staged.baseUrl);
    await authorize(page, service.demo.keys.read_only);
    const { status } = await sendFromPage(page, 'list-users');
    expect(status).toBe('200');
    expect(faults).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(`${staged.baseUrl}/`))).toEqual([]);
    await page.context().close();
    await staged.close();
  });

  it('shows an error if the document cannot be loaded, and still lists the operations', async () => {
    const page = await browser.newPage();
    await page.route('**/v1/openapi.json', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.goto(`${service.demo.base_url}/docs`);
    await page.locator('#failed').waitFor({ state: 'visible' });
    expect(await page.locator('#reference li').count()).toBe(operationIds.length);
    await page.close();
  });

  it.each([
    ['in light', {}],
    ['in dark', DARK],
    ['on a phone', PHONE],
  ])('conforms to WCAG 2 AA %s with every operation open', async (_title, options) => {
    const { page } = await openDocs(browser, service.demo.base_url, options);
    await openAll(page);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  });

  it('is usable by keyboard', async () => {
    const { page } = await openDocs(browser, service.demo.base_url);
    await page.locator('.opblock[id$="-list-users"] .opblock-summary-control').focus();
    await page.keyboard.press('Enter');
    await page.locator('.opblock[id$="-list-users"] .execute').waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('en');
    expect(await page.locator('main').count()).toBe(1);
    await page.context().close();
  });
});
