import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

/** Chromium without windows first: a page takes a quarter of the time. */
const BROWSERS = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path));

/** The options of a page on a phone. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Returns the width of the content of a page: more than that of the window needs scrolling to the side. */
export const widthOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth');

/** `describe`, or `describe.skip` with the reason in the title if this machine has no browser. */
export const describeInBrowser = (title: string, run: () => void): void =>
  executablePath === undefined
    ? describe.skip(
        `${title} (skipped: no Chromium; set CHROMIUM_PATH or install Debian's chromium-headless-shell)`,
        run,
      )
    : describe(title, run);

/** A host name that is not localhost: the page has no demo there. */
export const PUBLIC_HOST = 'api.example.com';

/** Starts a browser without its own background traffic. */
const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath as string,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP ${PUBLIC_HOST} 127.0.0.1`,
    ],
  });

/** The reference page in its own browser context, and the errors in it. */
export interface OpenPage {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, requests that failed, requests to another origin. */
  readonly faults: readonly string[];
  /** Every requested URL. */
  readonly requested: readonly string[];
}

/** How a page is opened: the options of its browser context, and its path. */
export type PageOptions = BrowserContextOptions & { readonly path?: string };

/** Opens a page, by default the reference page, and waits until it is at rest. */
export const openDocs = async (
  browser: Browser,
  baseUrl: string,
  { path = '/docs', ...options }: PageOptions = {},
): Promise<OpenPage> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    requested.push(request.url());
    if (new URL(request.url()).origin !== new URL(baseUrl).origin) faults.push(`foreign: ${request.url()}`);
  });
  await page.goto(`${baseUrl}${path}`);
  await page.waitForLoadState('networkidle');
  return { page, faults, requested };
};

/** Starts a browser and the local service for the tests of a block, and ends both after them. Closes the pages after each test. */
export const useBrowser = () => {
  let browser: Browser;
  let service: RunningService;

  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'] });
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await removeDataFolder(service?.folder);
  });

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  return {
    get browser() {
      return browser;
    },
    get service() {
      return service;
    },
    get baseUrl() {
      return service.demo.base_url;
    },
    /** Opens a page of the service. */
    open: (options?: PageOptions): Promise<OpenPage> => openDocs(browser, service.demo.base_url, options),
  };
};

/** Holds the requests of a page that match a pattern. Returns a function that lets them go on. */
export const holdRequests = async (page: Page, pattern: string): Promise<() => void> => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(pattern, async (route) => {
    await held;
    await route.continue();
  });
  return release;
};

/** Enters a key in one form; the page copies it to the others. */
export const enterKey = (page: Page, key: string): Promise<void> =>
  page.locator('#first-try [data-in="key"]').fill(key);

/** Executes the form of an operation as it is. Returns the status and the body that the page shows. */
export const execute = async (
  page: Page,
  operationId: string,
): Promise<{ readonly status: string; readonly body: string }> => {
  const form = page.locator(`#${operationId}-try`);
  await form.locator('[type="submit"]').click();
  await form.locator('.answer').waitFor({ state: 'visible' });
  const [status = ''] = (await form.locator('.result').innerText()).split(' ');
  return { status, body: await form.locator('.answer pre').first().innerText() };
};

/** Returns what violates rules or tags of axe on the page. */
const faultsOf = async (page: Page, rules: readonly string[]): Promise<readonly string[]> => {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const violations = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(rules)} }).then(({ violations }) => violations)`,
  )) as { id: string; nodes: { html: string }[] }[];
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};

/** Returns the violations of WCAG 2.2 A and AA that axe finds on the page. */
export const accessibilityFaults = (page: Page): Promise<readonly string[]> =>
  faultsOf(page, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);

/** Returns those in dark mode, in which nothing but colors differs. */
export const darkModeFaults = async (page: Page): Promise<readonly string[]> => {
  await page.emulateMedia({ colorScheme: 'dark' });
  return faultsOf(page, ['color-contrast', 'link-in-text-block']);
};
