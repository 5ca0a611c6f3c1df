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

describe('buyers erase', () => {
  it('shows what it erased, of all sellers, and then nothing more', async () => {
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
    expect((await shell.cli('buyers', 'erase', phone, '--yes')).out).toBe(
      'Erased 0 users of 0 sellers, 0 code records and 0 registrations.\n',
    );
  });
});

describe('buyers show', () => {
  it('shows the registration, the codes and the links of a phone, and how its lock ends', async () => {
    const { phone, hash } = await newPhone();
    const seller_id = await newSeller();
    await buyerStore(shell.table).register(hash, 'byr_9', '2026-11-01T10:00:00.000Z');
    const { id: user_id } = await linkBuyer(shell.table, seller_id, hash);
    await lock(hash, seller_id);
    const seller = { seller_id, seller_name: 'Kaveh Books' };
    expect(await shell.json('buyers', 'show', phone)).toMatchObject({
      buyer_id: 'byr_9',
      codes: [{ ...seller, failed_codes: 100, locked_until: 'until unlocked' }],
      links: [{ ...seller, user_id }],
      ended_links: [],
    });
    const { out, error } = await shell.cliOfWidth(80, 'buyers', 'show', phone);
    expect(out).toMatch(/^Kaveh Books +0 +never +100 +– +until unlocked$/m);
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(error).toBe('buyers unlock ends the locks of this phone, for all sellers.\n');
  });

  it('shows a phone that only a code is stored of, and refuses one that nothing is stored of', async () => {
    const { phone, hash } = await newPhone();
    expect(await shell.cli('buyers', 'show', phone)).toMatchObject({
      exitCode: 1,
      error: 'error: Nothing is stored about this phone.\n',
    });
    await lock(hash, 'public');
    const { exitCode, out } = await shell.cli('buyers', 'show', phone);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^registered \(UTC\) +never$/m);
    expect(out).toContain('No links.');
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
  });
});

describe('buyers add', () => {
  it('registers a phone from stdin once, with one audit record', async () => {
    const { phone } = await newPhone();
    const [added, again] = [
      await shell.cliWithInput(`${phone}\n`, 'buyers', 'add', '-'),
      await shell.cliWithInput(`\u202a${phone}\u202c \n`, 'buyers', 'add', '-'),
    ];
    expect(added).toMatchObject({ exitCode: 0, error: '' });
    expect(again).toMatchObject({
      exitCode: 0,
      out: added.out,
      error: 'The phone was registered already.\n',
    });
    const { records } = await shell.json('audit', 'deployment', '--search', 'buyer.added');
    expect(records).toMatchObject([{ details: { buyer_id: expect.stringMatching(/^byr_/) } }]);
  });
});

describe('the phone of a command', () => {
  it('is asked for on a terminal', async () => {
    const { phone, hash } = await newPhone();
    await buyerStore(shell.table).register(hash, 'byr_3', '2026-11-01T10:00:00.000Z');
    const answers = (question: string) => (question.startsWith('Phone') ? phone : 'y');
    const removed = await shell.cliWithPerson(answers, 'buyers', 'remove');
    expect(removed).toMatchObject({ exitCode: 0, out: 'Removed byr_3.\n' });
    const { records } = await shell.json('audit', 'deployment', '--search', 'buyer.removed');
    expect(records).toMatchObject([{ details: { buyer_id: 'byr_3' } }]);
    expect(JSON.stringify(records)).not.toContain(phone.slice(-10));
  });

  it('must be an Iranian mobile number', async () => {
    expect(await shell.cli('buyers', 'show', '02188776655')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('not an Iranian mobile number'),
    });
  });
});
