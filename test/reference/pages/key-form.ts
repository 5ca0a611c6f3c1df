/** What the browser tests of the page of a key share. */
import type { Page, Route } from 'playwright-core';

export const PATH = { path: '/docs/key' };

export const field = (page: Page) => page.getByLabel('API key');

/** Asks for the key in the form, or for another one. Waits for the figures. */
export const show = async (page: Page, key?: string): Promise<void> => {
  if (key !== undefined) await field(page).fill(key);
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('button', { name: 'Refresh' }).waitFor();
};

/** Lets `GET /v1/key/usage` answer with this. */
export const answerUsage = (page: Page, answer: Parameters<Route['fulfill']>[0]) =>
  page.route('**/v1/key/usage?**', (route) => route.fulfill(answer));
