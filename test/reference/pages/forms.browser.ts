/** The forms of the reference page in a real browser, served by the whole local service. */
import type { Page } from 'playwright-core';
import { describeInBrowser, execute, holdRequests, useBrowser } from './browser.ts';

/** Returns the sample of an operation in the selected language. */
const sampleOf = (page: Page, operationId: string): Promise<string> =>
  page.locator(`#${operationId} .samples pre`).innerText();

describeInBrowser('the forms of the reference page', () => {
  const docs = useBrowser();

  it('enters into each form a key of the demo seller that has the scope of the operation', async () => {
    const { page } = await docs.open();
    const { free } = docs.service.demo.keys;
    const keyOf = (id: string) => page.locator(`#${id}-try [data-in="key"]`).inputValue();
    expect([await keyOf('create-user'), await keyOf('list-events'), await keyOf('rotate-key')]).toEqual([
      free,
      free,
      free,
    ]);
    expect((await execute(page, 'list-events')).status).toBe('200');
  });

  it('writes what is typed into the samples, quoted as their language needs it', async () => {
    const { page } = await docs.open();
    await page.locator('#create-user-try [data-field="display_name"]').fill(`O'Neil "Sara"`);
    expect(await sampleOf(page, 'create-user')).toContain(`"display_name": "O'\\''Neil \\"Sara\\""`);
    await page.locator('#list-users-try [name="phone"]').fill('+989990123456');
    const url = `'${docs.baseUrl}/v1/users?phone=%2B989990123456&page_size=20'`;
    expect(await sampleOf(page, 'list-users')).toContain(url);
    const id = page.locator('#get-user-try [name="id"]');
    await id.fill("a/b'");
    expect(await sampleOf(page, 'get-user')).toContain(`'${docs.baseUrl}/v1/users/a%2Fb%27'`);
    await id.fill('');
    expect(await sampleOf(page, 'get-user')).toMatch(/\/v1\/users\/usr_\w{22}'/);
  });

  it('sends the access token of a buyer where an operation needs one, and puts no user id in place of a link id', async () => {
    const { page } = await docs.open();
    await execute(page, 'list-users');
    expect(await page.locator('#end-link-try [name="id"]').inputValue()).toBe('');
    expect(await sampleOf(page, 'find-links')).toContain('Bearer $ACCESS_TOKEN');
    expect(await page.locator('#create-user-try [data-in="token"]').count()).toBe(0);
    await page.locator('#find-links-try [data-in="token"]').fill('a.b.c');
    const sent = page.waitForRequest('**/v1/buyer/links/find');
    await page.locator('#find-links-try [type="submit"]').click();
    expect((await sent).headers()).toMatchObject({ authorization: 'Bearer a.b.c' });
  });

  it('keeps the fields of a body and its JSON equal, and sends the JSON', async () => {
    const { page } = await docs.open();
    const form = page.locator('#create-user-try');
    const json = form.locator('[data-in="body"]');
    await form.getByText('As JSON').click();
    await form.locator('[data-field="display_name"]').fill('');
    expect(Object.keys(JSON.parse(await json.inputValue()))).not.toContain('display_name');
    await json.fill('{"phone":"12","unknown":true}');
    expect(await form.locator('[data-field="phone"]').inputValue()).toBe('12');
    expect(await sampleOf(page, 'create-user')).toContain('"phone": "12"');
    const { status, body } = await execute(page, 'create-user');
    expect(status).toBe('422');
    expect(body).toContain('#/unknown');
  });

  it('has the JSON of a body beside its fields on a wide screen and below them on a phone', async () => {
    const placeOf = async (width: number) => {
      const { page } = await docs.open({ viewport: { width, height: 844 } });
      const form = page.locator('#create-user-try');
      const field = await form.locator('[data-field="phone"]').boundingBox();
      const json = await form.locator('[data-in="body"]').boundingBox();
      if (field === null || json === null) throw new Error('The field or the JSON is not visible.');
      return { isBeside: json.x > field.x + field.width, isBelow: json.y > field.y + field.height };
    };
    expect(await placeOf(1280)).toEqual({ isBeside: true, isBelow: false });
    expect(await placeOf(390)).toEqual({ isBeside: false, isBelow: true });
  });

  it('cannot be executed again while a request is sent', async () => {
    const { page } = await docs.open();
    const release = await holdRequests(page, '**/v1/users?**');
    const button = page.locator('#list-users-try [type="submit"]');
    await button.click();
    await page.locator('#list-users-try').getByText('Sending …').waitFor();
    expect(await button.isDisabled()).toBe(true);
    release();
    await page.locator('#list-users-try .answer').waitFor({ state: 'visible' });
    expect(await button.isEnabled()).toBe(true);
  });

  it('shows a response in colors, with a button to copy it', async () => {
    const { page } = await docs.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { body } = await execute(page, 'list-users');
    const answer = page.locator('#list-users-try .answer');
    expect(await answer.locator('.h-attr').allInnerTexts()).toEqual(
      expect.arrayContaining(['"data"', '"total"']),
    );
    await answer.getByRole('button', { name: 'Copy' }).click();
    await answer.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(body);
  });

  it('takes the access token of a verified code into the forms that show a buyer its links and end one', async () => {
    const { page } = await docs.open();
    const statuses: string[] = [];
    for (const id of ['create-user', 'send-otp', 'verify-otp', 'find-links', 'end-link'])
      statuses.push((await execute(page, id)).status);
    expect(statuses).toEqual(['201', '202', '200', '200', '204']);
  });
});
