import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { buyerStore } from '#shared/buyers/store.ts';
import { codeKey } from '#shared/table/keys.ts';
import { linkBuyer } from '#test/admin/operations/linked-buyer.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
beforeAll(async () => {
  shell = await startTestShell();
});
afterAll(() => shell.stop());

let people = 0;
/** Returns a phone that no other test uses, in E.164, and its hash. */
const newPhone = async () => {
  people += 1;
  const phone = `+98912${String(people).padStart(7, '0')}`;
  return { phone, hash: (await shell.hashes.phone(phone)).current };
};

/** Stores a code item with 100 failures, which locks the phone for the seller. */
const lock = (hash: string, audience: string) =>
  shell.table.client.send(
    new PutCommand({
      TableName: shell.table.name,
      Item: { ...codeKey(hash, audience), version: 1, sends: [], failures: 100, lock_at: 100 },
    }),
  );

const newSeller = async (): Promise<string> =>
  (await shell.json('sellers', 'create', 'Kaveh Books', '--yes')).seller_id;

const deploymentAudit = async (): Promise<{ action: string }[]> =>
  (await shell.json('audit', 'deployment')).records;

describe('buyers erase', () => {
  it('asks with the number of sellers and users, and changes nothing without a confirmation', async () => {
    const { phone, hash } = await newPhone();
    const [first, second] = [await newSeller(), await newSeller()];
    for (const seller of [first, first, second]) await linkBuyer(shell.table, seller, hash);
    const questions: string[] = [];
    const refused = await shell.cliWithPerson(
      (question) => {
        questions.push(question);
        return 'n';
      },
      ...['buyers', 'erase', phone],
    );
    expect(refused).toMatchObject({ exitCode: 1, error: 'Nothing was changed.\n' });
    expect(questions).toEqual([expect.stringContaining('linked with 2 sellers as 3 users')]);
    expect(await shell.cli('buyers', 'erase', phone)).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('Add --yes'),
    });
    expect(await shell.json('sellers', 'show', first)).toMatchObject({ users: 2 });
  });

  it('erases the registration, the codes and the users of all sellers', async () => {
    const { phone, hash } = await newPhone();
    const seller = await newSeller();
    await buyerStore(shell.table).register(hash, 'byr_1', '2026-11-01T10:00:00.000Z');
    await linkBuyer(shell.table, seller, hash);
    await lock(hash, seller);
    expect(await shell.json('buyers', 'erase', phone, '--yes')).toEqual({
      sellers: 1,
      users: 1,
      codes: 1,
      registrations: 1,
    });
    expect((await shell.cli('buyers', 'show', phone)).exitCode).toBe(1);
    expect(await shell.json('users', 'list', seller, '--phone', phone)).toMatchObject({ data: [] });
    expect((await shell.cli('buyers', 'erase', phone, '--yes')).out).toBe(
      'Erased 0 users of 0 sellers, 0 code records and 0 registrations.\n',
    );
    const records = await deploymentAudit();
    expect(records).toContainEqual(
      expect.objectContaining({
        action: 'buyer.erased',
        details: { sellers: 1, users: 1, codes: 1, registrations: 1 },
      }),
    );
    expect(JSON.stringify(records)).not.toContain(phone.slice(3));
  });
});

describe('buyers unlock', () => {
  it('clears the failed codes of a phone for all sellers', async () => {
    const { phone, hash } = await newPhone();
    const seller = await newSeller();
    await lock(hash, seller);
    await lock(hash, 'public');
    expect(await shell.json('buyers', 'unlock', phone)).toEqual({ unlocked: 2 });
    expect((await shell.cli('buyers', 'unlock', phone)).out).toBe('The phone has no failed codes.\n');
    const { records } = await shell.json('audit', seller);
    expect(records).toContainEqual(expect.objectContaining({ action: 'buyer.unlocked' }));
  });
});

describe('the phone of a command', () => {
  it('can be read from stdin', async () => {
    const { phone, hash } = await newPhone();
    await buyerStore(shell.table).register(hash, 'byr_2', '2026-11-01T10:00:00.000Z');
    const shown = await shell.cliWithInput(`${phone}\n`, 'buyers', 'show', '-', '--json');
    expect(JSON.parse(shown.out)).toMatchObject({ buyer_id: 'byr_2' });
  });

  it('is asked for on a terminal', async () => {
    const { phone, hash } = await newPhone();
    await buyerStore(shell.table).register(hash, 'byr_3', '2026-11-01T10:00:00.000Z');
    const answers = (question: string) => (question.startsWith('Phone') ? phone : 'y');
    const removed = await shell.cliWithPerson(answers, 'buyers', 'remove');
    expect(removed).toMatchObject({ exitCode: 0, out: 'Removed byr_3.\n' });
  });

  it('must be an Iranian mobile number', async () => {
    expect(await shell.cli('buyers', 'show', '02188776655')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('not an Iranian mobile number'),
    });
  });
});
