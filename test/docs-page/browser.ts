import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const BROWSERS = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path));

/** `describe`, or `describe.skip` with the reason in the title if this machine has no browser. */
export const describeInBrowser = (title: string, run: () => void): void =>
  executablePath === undefined
    ? describe.skip(`${title} (skipped: no Chromium; set CHROMIUM_PATH or install Debian's chromium)`, run)
    : describe(title, run);

/** Starts a browser without its own background traffic. */
export const launchBrowser = (): Promise<Browser> =>
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

/** The reference page in its own browser context, and the errors in it. */
export interface OpenPage {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, requests that failed, requests to another origin. */
  readonly faults: readonly string[];
  /** Every requested URL. */
  readonly requested: readonly string[];
}

/** Opens the page and waits until the renderer has listed the operations. */
export const openDocs = async (
  browser: Browser,
  baseUrl: string,
  options: BrowserContextOptions = {},
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
  await page.goto(`${baseUrl}/docs`);
  await page.waitForSelector('.opblock');
  return { page, faults, requested };
};

/** Enters a key in the page's form. */
export const authorize = async (page: Page, key: string): Promise<void> => {
  await page.click('.auth-wrapper .authorize');
  await page.fill('.auth-container input', key);
  await page.click('.auth-btn-wrapper .authorize');
  await page.click('.auth-btn-wrapper .btn-done');
};

/** Opens an operation by its id and sends its example. Returns the status and the body that the page shows. */
export const sendFromPage = async (
  page: Page,
  operationId: string,
): Promise<{ status: string; body: string }> => {
  const operation = page.locator(`.opblock[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.execute').click();
  const shown = operation.locator('.live-responses-table .response');
  await shown.waitFor();
  return {
    status: (await shown.locator('.response-col_status').innerText()).trim(),
    body: await shown.locator('.response-col_description pre').first().innerText(),
  };
};

/** The renderer puts a link into each button that opens an operation. Both work by keyboard. */
const KNOWN_ISSUES = ['nested-interactive'];

/** Returns the violations of WCAG 2 A and AA that axe finds on the page. */
export const accessibilityFaults = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const violations = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa'] }).then(({ violations }) => violations)",
  )) as { id: string; nodes: { html: string }[] }[];
  return violations
    .filter(({ id }) => !KNOWN_ISSUES.includes(id))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
