/** What the tests of the documentation site do in a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** A busy machine needs a while for the script of an operation. */
const WITHIN_MS = 60_000;

export const linksIn = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));

/** Enters a key and sends the request of an operation as the page shows it. Returns what the page shows of the response. */
export const tryOut = async (page: Page, key: string): Promise<string> => {
  // The samples are drawn in the browser: the form works then too.
  await page.locator('.vp-code-group pre').first().waitFor({ timeout: WITHIN_MS });
  await page.locator('input[name="X-Api-Key"]').fill(key);
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByText('Response time').waitFor({ timeout: WITHIN_MS });
  const [, response = ''] = (await page.locator('.VPDoc').innerText()).split('Try it out');
  return response.split('Samples')[0] ?? '';
};

/** Opens the search with the keyboard, and returns where the results of a query lead, in their order. */
export const search = async (page: Page, query: string): Promise<readonly string[]> => {
  await page.keyboard.press('Control+k');
  await page.locator('#localsearch-input').fill(query);
  await page.locator('#localsearch-list .result').first().waitFor();
  return linksIn(page, '#localsearch-list .result');
};

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Not the name of the search: the key that its button shows is a hint, and no part of a name (WCAG 2.5.3). */
const OPTIONS = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  rules: { 'label-content-name-mismatch': { enabled: false } },
};

/** vitepress-openapi has the choice between key and token in the line that closes the form. The keyboard reaches both. */
const KNOWN = 'nested-interactive: details:nth-child(1) > summary';

/** Returns the violations of WCAG 2.2 AA that axe finds in a page: rule and element. */
export const violationsIn = async (page: Page): Promise<readonly string[]> => {
  // Through the debugger: the policy of the page allows no script of another kind.
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(OPTIONS)})`)) as {
    violations: readonly Violation[];
  };
  return violations
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
    .filter((violation) => violation !== KNOWN);
};
