/** Failures, secrecy and links of the page of a key in a real browser, served by the whole local service. */
import { accessibilityFaults, describeInBrowser, holdRequests, openDocs, useBrowser } from './browser.ts';
import { answerUsage, field, PATH, show } from './key-form.ts';
import { behindStage } from './staged.ts';

describeInBrowser('the form of the page of a key', () => {
  const docs = useBrowser();

  const open = () => docs.open(PATH);

  it('says that a wrong key is not valid, and hides the figures of the key before it', async () => {
    const { page } = await open();
    await show(page);
    await field(page).fill(`${docs.service.demo.keys.free.slice(0, -1)}_`);
    expect(await page.locator('#figures').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('status').getByText('its key is not valid.').waitFor();
    expect(await page.locator('#figures').isVisible()).toBe(false);
  });

  it.each([
    ['a problem', { status: 403, json: { detail: 'The key lacks a scope.' } }, 'The key lacks a scope.'],
    [
      'a problem with Retry-After',
      { status: 429, headers: { 'Retry-After': '61' }, json: { detail: 'A limit is used up.' } },
      'A limit is used up. Try again in 2 min.',
    ],
    [
      'an error without JSON',
      { status: 502 },
      'The service could not be reached. Check your connection and try again.',
    ],
    [
      'no JSON',
      { status: 200, body: '<p>Sign in to this network</p>' },
      'The service could not be reached. Check your connection and try again.',
    ],
  ])('says why there are no figures after %s', async (_, answer, text) => {
    const { page } = await open();
    await show(page);
    await answerUsage(page, answer);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText(text, { exact: true }).waitFor();
    expect(await page.locator('#figures').isVisible()).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('says that there is no connection, and shows the figures when there is one again', async () => {
    const { page } = await open();
    await page.route('**/v1/key', (route) => route.abort('internetdisconnected'), { times: 1 });
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('The service could not be reached.').waitFor();
    await show(page);
    expect(await page.locator('#figures').isVisible()).toBe(true);
  });

  it('sends no request for what cannot be a key', async () => {
    const { page, requested } = await open();
    const texts = ['', 'کلید', 'two words', ' blk_test_1 '];
    const isValid = async (text: string): Promise<boolean> => {
      await field(page).fill(text);
      await field(page).press('Enter');
      return page.evaluate("document.querySelector('#key-form').matches(':valid')");
    };
    const valid: boolean[] = [];
    for (const text of texts) valid.push(await isValid(text));
    expect(valid).toEqual([false, false, false, true]);
    await page.getByRole('status').getByText('its key is not valid.').waitFor();
    expect(requested.slice(2)).toEqual([`${docs.baseUrl}/v1/key`]);
  });

  it('shows no figures of a key that the reader replaced while they were loaded', async () => {
    const { page } = await open();
    const release = await holdRequests(page, '**/v1/key/usage?**');
    const read = page.waitForRequest('**/v1/key/usage?**');
    await page.getByRole('button', { name: 'Show' }).click();
    await read;
    await field(page).fill(docs.service.demo.keys.read_only);
    release();
    await page.locator('#key-form button:enabled').waitFor();
    expect(await page.locator('#figures').isVisible()).toBe(false);
    expect(await page.locator('#key-rows tr').count()).toBe(0);
  });

  it('stores the key nowhere', async () => {
    const { page, requested } = await open();
    await show(page, docs.service.demo.keys.read_only);
    const stored = await page.evaluate(
      `Promise.all([indexedDB.databases(), caches.keys()]).then((names) =>
        [...names, { ...localStorage }, { ...sessionStorage }, document.cookie, history.state])`,
    );
    expect(stored).toEqual([[], [], {}, {}, '', null]);
    expect(await page.context().cookies()).toEqual([]);
    expect(
      [page.url(), ...requested].filter((url) => url.includes(docs.service.demo.keys.read_only)),
    ).toEqual([]);
  });

  it('forgets the key and its figures when the reader leaves the page, also if the browser keeps the page', async () => {
    const { page } = await open();
    await show(page, docs.service.demo.keys.read_only);
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
    expect(await field(page).inputValue()).toBe('');
    expect(await page.locator('#figures').isVisible()).toBe(false);
  });

  it('does not have the key of the reader when the reader comes back', async () => {
    const { page } = await open();
    await show(page, docs.service.demo.keys.read_only);
    await page.locator('main').getByRole('link', { name: 'Your key' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/your-key`);
    await page.goBack();
    await page.waitForLoadState('networkidle');
    expect(await field(page).inputValue()).toBe(docs.service.demo.keys.free);
    expect(await page.locator('#figures').isVisible()).toBe(false);
  });

  it('works under a stage path', async () => {
    const staged = await behindStage(docs.baseUrl, 'dev');
    const { page, faults, requested } = await openDocs(docs.browser, staged.baseUrl, PATH);
    await show(page, docs.service.demo.keys.read_only);
    expect(faults).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(`${staged.baseUrl}/`))).toEqual([]);
    await staged.close();
  });

  it('is reached from the reference, the guide on keys and the search', async () => {
    const { page } = await docs.open();
    await page.locator('.contents').getByRole('link', { name: 'Plan and use of a key' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/key`);
    await page.goto(`${docs.baseUrl}/docs/your-key`);
    await page.locator('main').getByRole('link', { name: 'Plan and use of a key' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/key`);
    await page.goto(`${docs.baseUrl}/docs/errors`);
    await page.getByRole('searchbox', { name: 'Search' }).fill('plan and use');
    await page.locator('#results').getByRole('link', { name: 'Plan and use of a key' }).click();
    await page.waitForURL(`${docs.baseUrl}/docs/key`);
  });

  it('is replaced by a sentence that says what to do without JavaScript', async () => {
    const { page } = await docs.open({ ...PATH, javaScriptEnabled: false });
    expect(await page.getByText('This page needs JavaScript.').isVisible()).toBe(true);
    expect(await page.locator('#key-form').isVisible()).toBe(false);
    expect(await page.locator('#figures').isVisible()).toBe(false);
  });
});
