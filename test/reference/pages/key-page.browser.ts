/** The figures on the page of a key in a real browser, served by the whole local service. */
import type { Page } from 'playwright-core';
import {
  accessibilityFaults,
  darkModeFaults,
  describeInBrowser,
  type PageOptions,
  PHONE,
  useBrowser,
  widthOf,
} from './browser.ts';
import { answerUsage, field, PATH, show } from './key-form.ts';

/** Returns the rows of a table, each as its cells. */
const rows = (page: Page, id: string): Promise<string[][]> =>
  page.evaluate(
    `[...document.querySelectorAll('#${id} tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`,
  );

/** Returns the tooltips of the bars of the chart. */
const tooltips = (page: Page): Promise<readonly string[]> =>
  page.locator('#chart .hour title').allTextContents();

interface Limit {
  readonly name: string;
  readonly maximum: number;
  readonly remaining: number;
}

const quiet = { requests: 0, refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };

/** The use of a week in which two hours have a count. */
const WEEK = {
  headers: { Date: 'Sat, 21 Nov 2026 10:30:00 GMT' },
  json: {
    data: [
      { ...quiet, hour: '2026-11-16T02:00:00Z', requests: 4, refused_links: 1 },
      {
        ...quiet,
        hour: '2026-11-21T10:00:00Z',
        requests: 1600,
        failed_checks: 200,
        failed_verifies: 200,
        sms: 3,
      },
    ],
    paid_checks: [
      { day: '2026-11-16', count: 2 },
      { day: '2026-11-21', count: 1100 },
    ],
  },
};

describeInBrowser('the page of a key', () => {
  const docs = useBrowser();

  const open = (options: PageOptions = {}) => docs.open({ ...PATH, ...options });

  it.each([
    ['on a wide screen', {}],
    ['on a phone', PHONE],
  ])(
    'shows the demo key %s by two requests, without errors and with nothing of WCAG 2.2 AA for axe, in dark mode too',
    async (_, options) => {
      const { page, faults, requested } = await open(options);
      await field(page).press('Enter');
      await page.getByRole('button', { name: 'Refresh' }).waitFor();
      for (const closed of await page.locator('.figures summary').all()) await closed.click();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await darkModeFaults(page)).toEqual([]);
      expect(await widthOf(page)).toBe(page.viewportSize()?.width);
      expect(faults).toEqual([]);
      const paths = ['/docs/key', '/_local/demo', '/v1/key', '/v1/key/usage?days=7'];
      expect(requested).toEqual(paths.map((path) => `${docs.baseUrl}${path}`));
    },
  );

  it('shows the key, its limits and its use as the service returns them', async () => {
    const key = docs.service.demo.keys.professional;
    const post = (path: string, body: object) =>
      fetch(`${docs.baseUrl}${path}`, {
        method: 'POST',
        headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await post('/v1/auth/otp/send', { phone: '+989990123456' })).status).toBe(202);
    expect((await post('/v1/auth/otp/verify', { phone: '+989990123456', code: '000000' })).status).toBe(422);
    const { page } = await open();
    const responses = Promise.all(
      ['**/v1/key', '**/v1/key/usage?**'].map(async (url) => (await page.waitForResponse(url)).json()),
    );
    await show(page, key);
    const [{ id, seller, limits, secrets }, { data }] = await responses;
    expect(await rows(page, 'key-rows')).toEqual([
      ['Key', `demo professional (${id})`],
      ['Account', `Demo Shop (${seller.id})`],
      ['Plan', 'professional'],
      ['Scopes', 'users:read, users:write, events:read, key:rotate'],
      ['Expiry', 'no end'],
      ['Valid secrets', `…${secrets[0].last_four}: no end`],
    ]);
    const state = ({ remaining, maximum }: Limit): string =>
      `${remaining.toLocaleString('en')} of ${maximum.toLocaleString('en')}`;
    expect((await rows(page, 'limit-rows')).map((cells) => cells.slice(0, 2))).toEqual([
      ['professional: requests per minute', state(limits[0])],
      ...limits.slice(1).map((limit: Limit) => [limit.name, state(limit)]),
    ]);
    const requests = data.reduce((sum: number, hour: { requests: number }) => sum + hour.requests, 0);
    expect(await rows(page, 'total-rows')).toEqual([
      ['Requests', String(requests)],
      ['Refused links', '0'],
      ['Failed checks', '0'],
      ['Failed verifications', '1'],
      ['SMS', '1'],
      ['Paid checks', '0'],
    ]);
    expect(await tooltips(page)).toHaveLength(data.length);
  });

  it('links each limit to its row of the guide', async () => {
    const { page } = await open();
    await show(page);
    for (const link of await page.locator('#limit-rows a').all()) {
      const target = new URL(String(await link.getAttribute('href')), page.url());
      expect(await (await fetch(target)).text()).toContain(` id="${target.hash.slice(1)}"`);
    }
  });

  it('draws each hour at its place, with labels of days, and says the same in tables', async () => {
    const { page } = await open();
    await answerUsage(page, WEEK);
    await show(page);
    expect(await tooltips(page)).toEqual([
      'Mon 16 Nov, 02:00 UTC: 4 requests, 1 refused',
      'Sat 21 Nov, 10:00 UTC: 1,600 requests, 400 refused',
    ]);
    const box = async (selector: string) => {
      const found = await page.locator(`#chart ${selector}`).boundingBox();
      return found ?? { x: Number.NaN, y: Number.NaN, width: Number.NaN, height: Number.NaN };
    };
    const [first, last] = [await box('.hour:nth-last-child(2) .other'), await box('.hour:last-child .other')];
    const hours = (Date.parse('2026-11-21T10:00:00Z') - Date.parse('2026-11-16T02:00:00Z')) / 3_600_000;
    expect((last.x - first.x) / last.width).toBeCloseTo(hours);
    const refused = await box('.hour:last-child .refused');
    expect(last.height / refused.height).toBeCloseTo(3);
    expect(refused.y + refused.height).toBeCloseTo(last.y);
    const labels = await page.locator('#chart text').allTextContents();
    expect(labels).toEqual(expect.arrayContaining(['1,600', '0', 'Mon 16 Nov', 'Sat 21 Nov']));
    await page.getByRole('img', { name: 'Requests per hour in the last seven days' }).waitFor();
    expect(await rows(page, 'hour-rows')).toEqual([
      ['Sat 21 Nov, 10:00', '1,600', '0', '200', '200', '3'],
      ['Mon 16 Nov, 02:00', '4', '1', '0', '0', '0'],
    ]);
    expect(await rows(page, 'day-rows')).toEqual([
      ['2026-11-21', '1,100'],
      ['2026-11-16', '2'],
    ]);
    expect(await rows(page, 'total-rows')).toEqual([
      ['Requests', '1,604'],
      ['Refused links', '1'],
      ['Failed checks', '200'],
      ['Failed verifications', '200'],
      ['SMS', '3'],
      ['Paid checks', '1,102'],
    ]);
  });

  it('shows the whole name of each day below the chart, also of one that has just begun', async () => {
    const { page } = await open();
    const data = WEEK.json.data.slice(0, 1);
    const headers = { Date: 'Sat, 21 Nov 2026 00:30:00 GMT' };
    await answerUsage(page, { ...WEEK, headers, json: { ...WEEK.json, data } });
    await show(page);
    const ends =
      "[...document.querySelectorAll('#chart text')].map((text) => text.getBoundingClientRect().right)";
    const right = (await page.locator('#chart svg').boundingBox()) as { x: number; width: number };
    for (const end of (await page.evaluate(ends)) as number[]) {
      expect(end).toBeLessThanOrEqual(right.x + right.width);
    }
  });

  it('begins at the last hours on a phone, where the chart scrolls', async () => {
    const { page } = await open(PHONE);
    await answerUsage(page, WEEK);
    await show(page);
    const bar = await page.locator('#chart .hour:last-child .other').boundingBox();
    expect(bar?.x).toBeGreaterThan(0);
    expect(bar?.x).toBeLessThan(PHONE.viewport.width);
  });

  it('says that nothing was counted, without a chart and without empty tables', async () => {
    const { page } = await open();
    await answerUsage(page, { json: { data: [], paid_checks: [] } });
    await show(page);
    expect(await page.locator('#summary').innerText()).toBe('Nothing was counted in the last seven days.');
    expect(await page.locator('#chart').isVisible()).toBe(false);
    expect(await page.locator('#total-rows').isVisible()).toBe(false);
    expect(await page.locator('#limit-rows').isVisible()).toBe(true);
  });

  it('reads the figures again', async () => {
    const { page } = await open();
    await show(page);
    const requests = async (): Promise<number> => Number((await rows(page, 'total-rows'))[0]?.[1]);
    const before = await requests();
    const read = page.waitForResponse('**/v1/key/usage?**');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await read;
    await page.getByText(/^As of \d\d:\d\d:\d\d UTC\.$/).waitFor();
    expect(await requests()).toBeGreaterThan(before);
  });
});
