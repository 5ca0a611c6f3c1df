/** The documentation site in a browser, on `npm start` and below a stage path as on the default endpoint of API Gateway. One page of each kind: site.nightly.ts opens them all. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page, Route } from 'playwright-core';
import { SITE_FOLDER } from '#lib/site.ts';
import { BUILD_FILE, type SiteBuild } from '#shared/docs/site.ts';
import { shippedPackages } from '#test/shipped-packages.ts';
import { describeInBrowser, useBrowser } from './browser.ts';
import { filesOf, searchOf } from './built-site.ts';
import { textOf } from './page.ts';
import { search, tryOut, violationsIn } from './site-page.ts';

/** A guide, the pages of other places, a Persian page, an operation, the page of a key. */
const KINDS = ['linking', 'typescript-client', 'changelog', 'fa/errors', 'operations/check-user', 'key'];

const PROBLEM = {
  status: 429,
  contentType: 'application/problem+json',
  body: '{"code":"rate_limit_exceeded","status":429}',
};

/** Clicks links of the sidebar, and sees that each leads to its page. */
const clickThrough = async (page: Page, titles: readonly string[]): Promise<void> => {
  for (const title of titles) {
    await page.locator('.VPSidebar').getByRole('link', { name: title, exact: true }).click();
    await page.locator('.VPDoc h1', { hasText: title }).waitFor();
  }
};

describeInBrowser('the documentation site', () => {
  const docs = useBrowser();

  it('opens a page of each kind below a stage without an error in the console and without a request to another origin', async () => {
    const { page, faults } = await docs.open(`${docs.stagedUrl}/docs`);
    for (const name of KINDS) {
      await page.goto(`${docs.stagedUrl}/docs/${name}`);
      await page.waitForLoadState('networkidle');
      expect([name, await page.locator('.VPDoc h1').count()]).toEqual([name, 1]);
    }
    expect(faults).toEqual([]);
  }, 60_000);

  it.each([
    ['at the root', 'create-user', () => docs.baseUrl, /\b20[01]\b[\s\S]*"usr_/],
    ['below a stage', 'list-users', () => docs.stagedUrl, /\b200\b[\s\S]*"total"/],
  ])(
    '%s sends the request of %s, shows the response, and keeps no key',
    async (_where, operation, baseUrl, response) => {
      const { page, faults } = await docs.open(`${baseUrl()}/docs/operations/${operation}`);
      expect(await page.locator('.vp-code-group .language-bash').first().innerText()).toContain(
        `curl ${baseUrl()}/v1/users`,
      );
      expect(await tryOut(page, docs.demo.keys.free)).toMatch(response);
      const kept = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      );
      expect(kept).not.toContain(docs.demo.keys.free);
      expect(faults).toEqual([]);
    },
  );

  it('shows the fields of an operation first, the required ones before the others, and links its problems to Errors', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/operations/create-user`);
    const tabs = await page.getByRole('tab', { selected: true }).allInnerTexts();
    expect(tabs.filter((text) => text === 'Schema')).toHaveLength(2);
    const text = await page.locator('.OAPathContentStart').innerText();
    expect(text.indexOf('external_id\n')).toBeGreaterThan(text.indexOf('display_name\n'));
    await page.getByRole('link', { name: 'user_conflict', exact: true }).click();
    await page.locator('tr#user_conflict.target').waitFor();
  });

  it('shows plan and chart of a key, and nothing of a key that was edited meanwhile', async () => {
    const { page, faults } = await docs.open(`${docs.stagedUrl}/docs/key`);
    const field = page.locator('.key-form input');
    const show = page.getByRole('button', { name: 'Show' });
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/v1/key', async (route) => {
      await held;
      await route.continue();
    });
    await field.fill(docs.demo.keys.professional);
    const [request] = await Promise.all([page.waitForRequest('**/v1/key'), show.click()]);
    await field.fill(docs.demo.keys.free);
    goOn();
    await (await request.response())?.finished();
    await page.waitForResponse(/\/v1\/key\/usage/);
    await page.waitForLoadState('networkidle');
    expect(await page.locator('.key-chart').count()).toBe(0);
    await show.click();
    await page.locator('.key-chart').waitFor();
    expect(await page.getByRole('row', { name: 'Plan' }).innerText()).toMatch(/free/);
    expect(await page.locator('.key-chart rect').count()).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  describe('a page that cannot load another one', () => {
    const once = (answer: (route: Route) => Promise<void>) => {
      let isFirst = true;
      return async (route: Route) => {
        const isNow = isFirst;
        isFirst = false;
        await (isNow ? answer(route) : route.fallback());
      };
    };

    it.each<[string, (page: Page) => Promise<unknown>]>([
      [
        'because the connection broke',
        (page) =>
          page.route(
            '**/assets/limits.md.*.js',
            once((route) => route.abort()),
          ),
      ],
      [
        'because of a limit, as the list of pages cannot be loaded',
        async (page) => {
          await page.route(
            '**/assets/limits.md.*.js',
            once((route) => route.fulfill(PROBLEM)),
          );
          await page.route(
            '**/hashmap.json',
            once((route) => route.fulfill(PROBLEM)),
          );
        },
      ],
      [
        'because a deploy replaced it',
        async (page) => {
          // From its first request on, which the old name gets, the site has a new one.
          const [file = ''] = filesOf(SITE_FOLDER, 'assets/limits.md.*.lean.js');
          const [, hash = ''] = /limits\.md\.([\w-]+)\.lean/.exec(file) ?? [];
          let isDeployed = false;
          await page.route(`**/assets/limits.md.${hash}*`, (route) => {
            isDeployed = true;
            return route.fulfill({ ...PROBLEM, status: 404 });
          });
          await page.route('**/assets/limits.md.NEWER*', async (route) => {
            const url = route.request().url().replace('NEWER', hash);
            await route.fulfill({ response: await route.fetch({ url }) });
          });
          await page.route(/docs\/limits$|metadata\.\w+\.js$|hashmap\.json$/, async (route) => {
            const response = await route.fetch();
            const text = await response.text();
            await route.fulfill({ response, body: isDeployed ? text.replaceAll(hash, 'NEWER') : text });
          });
        },
      ],
    ])('%s shows it from the server, and goes on to the others', async (_why, prepare) => {
      const { page } = await docs.open(`${docs.baseUrl}/docs/errors`, { prepare });
      await clickThrough(page, ['Limits', 'Your key', 'Errors']);
    });
  });

  it('searches in the form of a code, and in Persian with letters of an Arabic keyboard', async () => {
    const { page, faults } = await docs.open(`${docs.baseUrl}/docs`);
    expect((await search(page, 'user_conflict'))[0]).toBe(`${docs.baseUrl}/docs/errors#user_conflict`);
    await page.goto(`${docs.baseUrl}/docs/fa/quick-start`);
    await page.waitForLoadState('networkidle');
    expect((await search(page, 'كليد')).join('\n')).toContain('docs/fa/your-key');
    expect(faults).toEqual([]);
  });

  it('shows a Persian page from right to left, and an error code at its address', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/fa/errors#user_conflict`);
    expect(
      await page.evaluate('[document.documentElement.lang, getComputedStyle(document.body).direction]'),
    ).toEqual(['fa', 'rtl']);
    expect(await page.locator('#user_conflict').innerText()).toContain('409');
    const [sidebar, text] = await Promise.all([
      page.locator('.VPSidebar').boundingBox(),
      page.locator('.VPDoc h1').boundingBox(),
    ]);
    expect(sidebar?.x).toBeGreaterThan(text?.x ?? 0);
    expect(
      await page.evaluate("getComputedStyle(document.querySelector('#user_conflict code')).direction"),
    ).toBe('ltr');
  });

  it('leaves the text beside a code the width of some words on a phone', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/errors`, { width: 390 });
    const cell = await page.locator('#verification_unavailable td').last().boundingBox();
    expect(cell?.width).toBeGreaterThan(200);
  });

  it('shows each sign of a sample in a light color in dark, also one that is too short for axe', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/operations/create-user`, { colorScheme: 'dark' });
    await page.locator('.vp-code-group pre').first().waitFor();
    const colors = (await page.evaluate(
      "[...document.querySelectorAll('.vp-code-group pre span')].map((sign) => getComputedStyle(sign).color)",
    )) as string[];
    const light = /^rgb\((?=.*\b(?:1[3-9]|2\d)\d\b)[\d, ]+\)$/;
    expect(colors.length).toBeGreaterThan(40);
    expect(colors.filter((color) => !light.test(color))).toEqual([]);
  });

  it.each([
    ['fa/errors', 'English', 'errors'],
    ['errors', 'فارسی', 'fa/errors'],
    ['changelog', 'فارسی', 'fa/quick-start'],
  ])('leads from %s with %s to %s', async (from, language, to) => {
    const html = await (await fetch(`${docs.baseUrl}/docs/${from}`)).text();
    const links = [...html.matchAll(/href="([^"]*)"[^>]*>(?:<!--\[-->)?(?:<span[^>]*>)?([^<]+)</g)];
    const found = links.filter(([, , text]) => text === language).map(([, href]) => href);
    expect(new Set(found)).toEqual(new Set([`/docs/${to}`]));
  });

  it.each<[string, string, 'light' | 'dark']>([
    ...KINDS.map((name): [string, string, 'light'] => [name, 'light', 'light']),
    ['linking', 'dark', 'dark'],
    ['operations/check-user', 'dark', 'dark'],
    ['fa/linking', 'light', 'light'],
  ])('%s in %s breaks no rule of WCAG 2.2 AA that axe checks', async (name, _scheme, colorScheme) => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/${name}`, { colorScheme });
    if (name.startsWith('operations/')) await page.locator('.vp-code-group pre').first().waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it.each([
    ['the first page', '', 112],
    ['a page of an operation', 'operations/create-user', 830],
  ])('%s needs at most what a first visit may transfer', async (_what, path, kilobytes) => {
    const urls = new Set<string>();
    await docs.open(`${docs.baseUrl}/docs/${path}`, {
      prepare: async (page) => page.on('request', (request) => urls.add(request.url())),
    });
    const sizes = [...urls].map(async (url) => gzipSync(await (await fetch(url)).bytes()).length);
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total / 1000).toBeLessThan(kilobytes);
  });

  it('prints a guide without its navigation', async () => {
    const { page } = await docs.open(`${docs.baseUrl}/docs/errors`);
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.VPNav', '.VPSidebar', '.VPDocFooter', '.aside'])
      expect(await page.locator(part).isVisible()).toBe(false);
    expect(
      await page.evaluate("getComputedStyle(document.querySelector('.VPDoc pre code')).whiteSpace"),
    ).toBe('pre-wrap');
  });

  describe('as files', () => {
    const pathOf = (file: string) => join(SITE_FOLDER, file);

    it('evaluates no text as a program, which the policy of its pages forbids', () => {
      const scripts = filesOf(SITE_FOLDER, '**/*.{js,mjs}');
      expect(scripts.length).toBeGreaterThan(100);
      expect(scripts.filter((file) => readFileSync(file, 'utf8').includes('new Function('))).toEqual([]);
    });

    it('contains the packages that SECURITY.md lists', () => {
      const { packages } = JSON.parse(readFileSync(pathOf(BUILD_FILE), 'utf8')) as SiteBuild;
      expect(packages).toEqual(shippedPackages());
    });

    it('names the OpenAPI document, and each page as Markdown, in llms.txt', () => {
      const text = readFileSync(pathOf('llms.txt'), 'utf8');
      expect(text).toMatch(/^The OpenAPI document: \S+\/v1\/openapi\.json$/m);
      const listed = [...text.matchAll(/\/docs\/([\w/-]+\.md)\)/g)].map(([, name = '']) => pathOf(name));
      expect([pathOf('index.md'), ...listed].sort()).toEqual([...filesOf(SITE_FOLDER, '**/*.md')].sort());
      for (const file of listed)
        expect(readFileSync(file, 'utf8')).not.toMatch(/\\_|&#?\w+;|<\/?(?:div|code|KeyPage)\b/);
    });

    it('says without JavaScript that there is no page', () => {
      expect(readFileSync(pathOf('404.html'), 'utf8')).toMatch(/<noscript><h1>Page not found<\/h1>/);
    });

    it('names an icon on each page', () => {
      for (const file of filesOf(SITE_FOLDER, '**/*.html'))
        expect(readFileSync(file, 'utf8')).toContain('rel="icon" href="data:');
    });

    it.each(['errors.md', 'fa/errors.md'])('finds the row of each code of %s first', (page) => {
      const find = searchOf(SITE_FOLDER, page.startsWith('fa') ? 'fa' : 'root');
      const codes = [
        ...textOf(`docs/sellers/${page}`).matchAll(
          /^\| (?:`|<code>)([a-z]+(?:_[a-z]+)+)(?:`|<\/code>) \| \d+ \|/gm,
        ),
      ];
      expect(codes.length).toBeGreaterThan(20);
      for (const [, code = ''] of codes)
        for (const query of [code, code.replaceAll('_', '-')])
          expect([query, find(query)[0]]).toEqual([query, `/__base__/docs/${page.slice(0, -3)}#${code}`]);
    });

    it.each([
      ['root', 'webhook', 'what-there-is-not'],
      ['root', 'retry-after', 'errors#retry_after'],
      ['root', 'external_id', 'linking#external-id'],
      ['root', 'external_id', 'operations/create-user'],
      ['fa', 'وب‌هوک', 'fa/what-there-is-not'],
      ['fa', 'پيامك', 'fa/sign-in'],
      ['fa', '۴۰۹', 'fa/errors'],
      ['fa', 'پیوند', 'fa/linking'],
    ] as const)('finds in %s with %s the page %s', (language, query, found) => {
      expect(searchOf(SITE_FOLDER, language)(query).slice(0, 16).join('\n')).toContain(`/docs/${found}`);
    });
  });
});
