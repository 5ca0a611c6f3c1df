import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let sellerId: string;
beforeAll(async () => {
  shell = await startTestShell();
});
beforeEach(async () => {
  sellerId = (await shell.json('sellers', 'create', 'Kaveh Books', '--yes')).seller_id;
});
afterAll(() => shell.stop());

const messages = (...args: string[]) => shell.json('sellers', 'messages', sellerId, ...args);

const PERSIAN = { provider: 'kavenegar', locale: 'fa', template: 'kaveh-books' };
const ENGLISH = { provider: 'kavenegar', locale: 'en', template: 'kaveh-books-en' };
const BY_NUMBER = { provider: 'sms-ir', locale: 'fa', template: 200_001 };

describe('sellers messages', () => {
  it('sets templates by provider and language, Persian by default, and shows them', async () => {
    expect(await messages()).toEqual({ seller_id: sellerId, templates: [] });
    const both = ['--template', 'kavenegar=kaveh-books', '--template', 'sms-ir=200001'];
    expect((await messages(...both)).templates).toEqual([PERSIAN, BY_NUMBER]);
    await messages('--template', 'kavenegar=kaveh-books-en', '--locale', 'en');
    const expected = [PERSIAN, ENGLISH, BY_NUMBER];
    expect(await messages()).toEqual({ seller_id: sellerId, templates: expected });
    expect((await shell.json('sellers', 'show', sellerId)).templates).toEqual(expected);
  });

  it('replaces the template of one provider and language, and keeps the others', async () => {
    await messages('--template', 'kavenegar=first', '--template', 'sms-ir=200001');
    expect((await messages('--template', 'kavenegar=kaveh-books')).templates).toEqual([PERSIAN, BY_NUMBER]);
  });

  it('removes the template of one provider and language, or of several providers', async () => {
    await messages('--template', 'kavenegar=kaveh-books', '--template', 'sms-ir=200001');
    await messages('--template', 'kavenegar=kaveh-books-en', '--locale', 'en');
    const { templates } = await messages('--remove', 'kavenegar', '--locale', 'en', '--yes');
    expect(templates).toEqual([PERSIAN, BY_NUMBER]);
    const all = ['--remove', 'kavenegar', '--remove', 'sms-ir', '--yes'];
    expect((await messages(...all)).templates).toEqual([]);
  });

  it('writes an audit record of each change with the templates before and after, and none without a change', async () => {
    await messages('--template', 'kavenegar=kaveh-books');
    await messages('--template', 'kavenegar=kaveh-books');
    await messages('--remove', 'kavenegar', '--yes');
    await messages('--remove', 'kavenegar', '--yes');
    await messages();
    const { records } = await shell.json('audit', sellerId);
    expect(records).toMatchObject([
      { action: 'seller.templates_set', details: { from: 'kavenegar fa kaveh-books', to: 'none' } },
      { action: 'seller.templates_set', details: { from: 'none', to: 'kavenegar fa kaveh-books' } },
      { action: 'seller.created' },
    ]);
  });

  it('shows the templates as a table, and below a seller only if it has some', async () => {
    const show = () => shell.cli('sellers', 'show', sellerId);
    expect((await show()).out).not.toContain('language');
    const { out, error } = await shell.cli(
      ...['sellers', 'messages', sellerId, '--template', 'sms-ir=200001', '--locale', 'en'],
    );
    expect(out).toBe('provider  locale  template\nsms-ir    en      200001\n');
    expect(error).toContain('Send a code to your own phone.');
    expect((await show()).out).toContain(out);
    const other = (await shell.json('sellers', 'create', 'Books by Kaveh')).seller_id;
    const none = await shell.cliWithPerson(() => '', 'sellers', 'messages', other);
    expect(none).toMatchObject({ exitCode: 0, out: 'No templates of its own.\n' });
    expect(none.error).toContain("the stage's templates");
  });

  it.each([
    [['--template', 'kavenegar']],
    [['--template', 'kavenegar=']],
    [['--template', 'kavenegar=two words']],
    [['--template', 'kavenegar=a=b']],
    [['--template', 'sms-ir=kaveh-books']],
    [['--template', 'sms-ir=0']],
    [['--template', 'sms-ir=1e5']],
    [['--template', 'sandbox=kaveh-books']],
    [['--template', 'kavenegar=kaveh-books', '--locale', 'de']],
    [['--template', 'kavenegar=kaveh-books', '--remove', 'kavenegar', '--yes']],
    [['--remove', 'sandbox', '--yes']],
  ])('is a wrong command line with %j, and changes nothing', async (args) => {
    const outcome = await shell.cli('sellers', 'messages', sellerId, ...args);
    expect(outcome).toMatchObject({ exitCode: 2, out: '' });
    expect(outcome.error).not.toBe('');
    expect((await messages()).templates).toEqual([]);
  });
});
