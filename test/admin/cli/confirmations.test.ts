import { buyerStore } from '#shared/buyers/store.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import { linkBuyer } from '#test/admin/operations/linked-buyer.ts';
import { newPhone } from '#test/generated-people.ts';
import { patientLimiter } from '#test/shared/rate-limits/patient-limiter.ts';
import { type RunningApiGateway, startApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let apiGateway: RunningApiGateway;
beforeAll(async () => {
  apiGateway = await startApiGateway();
  shell = await startTestShell(apiGateway);
});
afterAll(async () => {
  await shell.stop();
  await apiGateway.stop();
});

/** A key of the plan professional that was used today: a request and a message. */
const newUsedKey = async (seller: string): Promise<string> => {
  const options = ['--plan', 'professional', '--scopes', 'users:read,users:write', '--name', 'busy'];
  const { key_id: keyId } = await shell.json('keys', 'issue', seller, ...options);
  await shell.countRequest(keyId);
  const sms = keyLimit('sms-per-hour', { keyId, plan: 'professional', limits: {} });
  await patientLimiter(shell.table).increment(sms, Date.now());
  return keyId;
};

/** Values by the words that stand for them below: a seller with two keys and a user, whose phone is registered, and one without anything. */
const newScene = async () => {
  const { seller_id: SELLER } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes');
  const { seller_id: EMPTY } = await shell.json('sellers', 'create', `Shop-${SELLER}`);
  await shell.json('sellers', 'messages', SELLER, '--template', 'kavenegar=kaveh-books');
  const issue = ['keys', 'issue', SELLER, '--plan', 'free', '--scopes', 'users:read', '--name', 'server'];
  const { key_id: KEY } = await shell.json(...issue);
  const BUSY = await newUsedKey(SELLER);
  const TODAY = new Date().toISOString().slice(0, 10);
  const PHONE = newPhone();
  const { current: hash } = await shell.hashes.phone(PHONE);
  await buyerStore(shell.table).register(hash, `byr_of_${SELLER}`, '2026-11-01T10:00:00.000Z');
  const { id: USER } = await linkBuyer(shell.table, SELLER, hash);
  return { SELLER, EMPTY, KEY, BUSY, TODAY, PHONE, USER };
};

/** Everything that a command can change. */
const everything = async () => [await itemsIn(shell.table), await apiGateway.keys()];

const SAME_NAME = 'The name shop-SELLER is that of EMPTY. Use it for another seller too?';

/** Commands, what each asks, and what each shows when it has done it. */
const COMMANDS: readonly (readonly [command: string, question: string, shown: string])[] = [
  [
    'sellers suspend SELLER',
    'Suspend SELLER (Kaveh Books)? Every request with its keys will be refused.',
    'suspended',
  ],
  ['sellers delete EMPTY', 'Delete EMPTY (Shop-SELLER) for good?', 'Deleted EMPTY.'],
  ['sellers create shop-SELLER', SAME_NAME, 'shop-SELLER'],
  ['sellers rename SELLER shop-SELLER', SAME_NAME, 'shop-SELLER'],
  [
    'sellers messages SELLER --remove kavenegar',
    'Send the codes of SELLER (Kaveh Books) in fa without its own template of kavenegar?',
    'No templates of its own.',
  ],
  [
    'keys rotate KEY --grace 0',
    'Rotate KEY (server) without a grace period? Its old secret becomes invalid at once.',
    'blk_test_',
  ],
  [
    'keys assign BUSY --plan free',
    'Take from BUSY (busy), which was last used on TODAY: 900 of 1,000 requests a minute?',
    'free',
  ],
  [
    'keys scopes BUSY --set users:write',
    'Take from BUSY (busy), which was last used on TODAY: scope users:read?',
    'users:write',
  ],
  [
    'keys limits BUSY --set sms-per-hour=0',
    'Take from BUSY (busy), which was last used on TODAY: sms-per-hour 2,000 → 0 (it used 1)?',
    'sms-per-hour',
  ],
  [
    'keys expire BUSY --at 2099-01-31',
    'Take from BUSY (busy), which was last used on TODAY: the time after 2099-01-31T00:00:00.000Z?',
    '2099-01-31 00:00',
  ],
  ['keys revoke KEY', 'Revoke KEY (server) for good? Every request with it will be refused.', 'revoked'],
  [
    'buyers remove PHONE',
    'Remove the registration? No seller can link this phone until it is registered again.',
    'Removed byr_of_SELLER.',
  ],
  [
    'buyers erase PHONE',
    'Erase this buyer for good? It is linked with 1 seller as 1 user.',
    'Erased 1 user of 1 seller, 0 code records and 1 registration.',
  ],
  [
    'users remove USER --seller SELLER',
    'Remove USER from SELLER for good? The seller has to link the person again.',
    'Removed USER.',
  ],
  [
    'users remove --all --seller SELLER',
    'Remove all 1 user of SELLER (Kaveh Books) for good? It can link more meanwhile: suspend it first.',
    'Removed 1 user of SELLER.',
  ],
];

it.each(COMMANDS)(
  '%s is done after a yes; without it, or a terminal to ask on, nothing changes',
  async (...texts) => {
    const scene = await newScene();
    const inScene = (text: string): string =>
      text.replace(/[A-Z]{3,}/g, (word) => scene[word as keyof typeof scene] ?? word);
    const [command, question, shown] = texts.map(inScene) as [string, string, string];
    const words = command.split(' ');
    const before = await everything();
    expect(await shell.cli(...words)).toEqual({
      exitCode: 1,
      out: '',
      error: `error: ${question} This terminal is not interactive. Add --yes.\n`,
    });
    const asked: string[] = [];
    const answering = (answer: string) => (each: string) => {
      asked.push(each);
      return answer;
    };
    const declined = { exitCode: 1, out: '', error: 'Nothing was changed.\n' };
    expect(await shell.cliWithPerson(answering('n'), ...words)).toEqual(declined);
    expect(await everything()).toEqual(before);
    expect(await shell.cliWithPerson(answering('y'), ...words)).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining(shown),
    });
    expect(asked).toEqual([`${question} [y/N] `, `${question} [y/N] `]);
    expect(await everything()).not.toEqual(before);
  },
);

it('a change says what it takes and when, and asks nobody about a key without a request or one that loses nothing', async () => {
  const { KEY, BUSY } = await newScene();
  const soon = 'The change takes effect within 5 minutes.\n';
  expect((await shell.cli('keys', 'scopes', KEY, '--set', 'users:write')).error).toBe(
    `Taken from ${KEY}: scope users:read. ${soon}`,
  );
  expect((await shell.cli('keys', 'limits', BUSY, '--set', 'sms-per-hour=1')).error).toBe(soon);
  expect((await shell.cli('keys', 'limits', BUSY)).error).toBe('');
  const end = ['keys', 'expire', KEY, '--at'];
  expect((await shell.cli(...end, '2099-01-31')).error).toBe(
    `Taken from ${KEY}: the time after 2099-01-31T00:00:00.000Z.\n`,
  );
  expect((await shell.cli(...end, 'never')).error).toBe(soon);
});

it('a change that is refused anyway is not asked about', async () => {
  const { BUSY } = await newScene();
  expect((await shell.cli('keys', 'scopes', BUSY, '--set', 'buyers:links')).error).toContain(
    'buyers:register',
  );
  expect((await shell.cli('keys', 'expire', BUSY, '--at', '2020-01-01')).error).toContain('in the future');
  await shell.cli('keys', 'revoke', BUSY, '--yes');
  expect((await shell.cli('keys', 'assign', BUSY, '--plan', 'free')).error).toContain('is revoked');
});

it('reconcile --fix deletes keys that only API Gateway has after a yes, and nothing without it', async () => {
  const unknown = { name: 'buyer-linking-local-key_unknown', value: 's'.repeat(40), enabled: true };
  await apiGateway.usagePlans.createKey(unknown);
  const before = await everything();
  const { exitCode, error } = await shell.cli('reconcile', '--fix');
  expect([exitCode, error]).toEqual([
    1,
    expect.stringContaining('Delete 1 key from API Gateway, missing in the table? This terminal'),
  ]);
  expect(await everything()).toEqual(before);
  expect((await shell.json('reconcile', '--fix', '--yes')).differences).toMatchObject([{ repaired: true }]);
});
