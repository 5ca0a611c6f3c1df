import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { behindStage } from './staged.ts';

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

/** `describe`, or `describe.skip` with the reason in the title if this machine has no browser. */
export const describeInBrowser = (title: string, run: () => void): void =>
  executablePath === undefined
    ? describe.skip(
        `${title} (skipped: no Chromium; set CHROMIUM_PATH or install Debian's chromium-headless-shell)`,
        run,
      )
    : describe(title, run);

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
    ],
  });

/** A page in its own browser context, and the errors in it. */
interface OpenPage {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, requests that failed, requests to another origin. */
  readonly faults: readonly string[];
}

interface OpenOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** Runs before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** Opens an address, and waits until the page is at rest. */
const openPage = async (
  browser: Browser,
  address: string,
  { colorScheme = 'light', width = 1280, prepare }: OpenOptions = {},
): Promise<OpenPage> => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  await prepare?.(page);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    // The test itself went on to the next page.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') faults.push(`failed: ${request.url()}`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(address).origin) faults.push(`foreign: ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForLoadState('networkidle');
  return { page, faults };
};

/** Starts a browser and the local service, also below a stage path, for the tests of a block, and ends all after them. Closes the pages after each test. */
export const useBrowser = () => {
  let browser: Browser;
  let service: RunningService;
  let staged: Awaited<ReturnType<typeof behindStage>>;

  beforeAll(async () => {
    service = await startRunningService({ args: ['--memory'], withSite: true });
    staged = await behindStage(service.demo.base_url);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await staged?.close();
    await service?.stop();
    await removeDataFolder(service?.folder);
  });

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  return {
    get demo() {
      return service.demo;
    },
    get baseUrl() {
      return service.demo.base_url;
    },
    get stagedUrl() {
      return staged.baseUrl;
    },
    open: (address: string, options?: OpenOptions): Promise<OpenPage> => openPage(browser, address, options),
  };
};
