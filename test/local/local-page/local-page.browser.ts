/** The page at /_local in a real browser, served by the whole local service. */
import type { Page } from 'playwright-core';
import { testPhone } from '#shared/providers/test-identities.ts';
import { newPhone } from '#test/generated-people.ts';
import {
  accessibilityFaults,
  DARK,
  describeInBrowser,
  type PageOptions,
  PHONE,
  useBrowser,
  widthOf,
} from '#test/reference/pages/browser.ts';
import { call } from '#test/scenarios/call.ts';
import { localTarget } from '#test/service/local-target.ts';

describeInBrowser('the local page', () => {
  const local = useBrowser();

  const open = (options: PageOptions = {}) => local.open({ ...options, path: '/_local' });
  const send = (phone: string) =>
    call(localTarget(local.service.demo), '/v1/auth/otp/send', {
      key: local.service.demo.keys.app,
      body: { phone },
    });
  const status = (page: Page, text: string) => page.locator('#status', { hasText: text }).waitFor();

  it.each([
    ['on a wide screen', {}],
    ['in dark mode', DARK],
    ['on a phone', PHONE],
    ['on a phone in dark mode', { ...PHONE, ...DARK }],
  ])(
    'is shown %s with a message and a request, without errors and with nothing of WCAG 2.2 AA for axe',
    async (_, options) => {
      await send(newPhone());
      const { page, faults } = await open(options);
      await page.locator('#messages li').first().waitFor();
      await page.locator('#requests summary').first().click();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await widthOf(page)).toBe(page.viewportSize()?.width);
      expect(faults).toEqual([]);
    },
  );

  it('shows a message that is sent while it is open, and copies its code', async () => {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const phone = newPhone();
    await send(phone);
    const message = page.locator('#messages li', { hasText: phone });
    await message.waitFor();
    const code = await message.locator('.code').innerText();
    expect(code).toMatch(/^\d{6}$/);
    expect(await message.innerText()).toContain('kavenegar sign-in-code');
    const lines = (await message.locator('.sms').innerText()).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([`کد ورود: ${code}`, `@buyer-app.example #${code}`]);
    await message.locator('button').click();
    await status(page, `Copied ${code}.`);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
  });

  it('finds a request by its id, by its status and by its seller, and shows its problem and its calls', async () => {
    const refused = await send('1');
    const id = String(refused.headers.get('x-request-id'));
    const { page } = await open();
    const rows = page.locator('#requests details');
    await page.fill('#filter-id', id);
    await page.fill('#filter-status', '422');
    await page.fill('#filter-seller', local.service.demo.seller_id);
    await rows.filter({ hasText: 'validation_failed' }).waitFor();
    expect(await rows.count()).toBe(1);
    await rows.locator('summary').click();
    const detail = JSON.parse(await rows.locator('pre').innerText());
    expect(detail).toMatchObject({
      problem: { request_id: id, errors: [{ pointer: '#/phone' }] },
      calls: expect.stringContaining('dynamodb:'),
    });
    await page.fill('#filter-status', '2');
    await rows.waitFor({ state: 'detached' });
  });

  it('sets and removes the fault of a provider, and shows one that was set elsewhere', async () => {
    const { page } = await open();
    await page.selectOption('#fault-kavenegar', 'balance');
    await status(page, 'kavenegar: The account has no credit.');
    const faultsUrl = `${local.service.demo.base_url}/_local/faults`;
    const { providers } = (await (await fetch(faultsUrl)).json()) as { providers: object[] };
    expect(providers).toContainEqual({ provider: 'kavenegar', fault: 'balance' });
    await page.selectOption('#fault-kavenegar', 'none');
    await status(page, 'kavenegar: The provider works.');
    await page.locator('#filter-id').focus();
    const headers = { 'Content-Type': 'application/json' };
    const body = (fault: string) => JSON.stringify({ provider: 'zohal', fault });
    await fetch(faultsUrl, { method: 'POST', headers, body: body('quota') });
    await page.locator('#fault-zohal option:checked', { hasText: 'quota: ' }).waitFor({ state: 'attached' });
    await fetch(faultsUrl, { method: 'POST', headers, body: body('none') });
  });

  it('resets: the cool-down of a phone is forgotten and its message is gone', async () => {
    const phone = newPhone();
    await send(phone);
    expect((await send(phone)).status).toBe(429);
    const { page } = await open();
    const message = page.locator('#messages li', { hasText: phone });
    await message.waitFor();
    await page.click('#reset');
    await status(page, 'checks, codes and counts.');
    await message.waitFor({ state: 'detached' });
    expect((await send(phone)).status).toBe(202);
  });

  it('lists the people and phones to test with', async () => {
    const { page } = await open();
    expect(await page.locator('main').innerText()).toContain(testPhone('slow').replace('+98', '0'));
  });
});
