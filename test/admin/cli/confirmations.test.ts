import { buyerStore } from '#shared/buyers/store.ts';
import { keyLimit } from '#shared/rate-limits/key-limits.ts';
import { linkBuyer } from '#test/admin/operations/linked-buyer.ts';
import { itForAll } from '#test/for-all.ts';
import { newPhone } from '#test/generated-people.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
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
  await limiterOn(shell.table).increment(sms, Date.now());
  return keyId;
};

/** A seller with a key without requests, and one that was used. */
const newKeys = async () => {
  const { seller_id: SELLER } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes');
  const issue = ['keys', 'issue', SELLER, '--plan', 'free', '--scopes', 'users:read', '--name', 'server'];
  const { key_id: KEY } = await shell.json(...issue);
  return { SELLER, KEY, BUSY: await newUsedKey(SELLER) };
};

/** Registers a phone as that of a buyer. */
const newBuyer = async (buyerId: string) => {
  const phone = newPhone();
  const { current: hash } = await shell.hashes.phone(phone);
  await buyerStore(shell.table).register(hash, buyerId, '2026-11-01T10:00:00.000Z');
  return { phone, hash };
};

/** Values by the words that stand for them below: a seller with two keys and three users, one of them a buyer, and what each command takes away. */
const newScene = async () => {
  const { SELLER, ...keys } = await newKeys();
  await shell.json('keys', 'rotate', keys.KEY, '--grace', '24h');
  const { seller_id: EMPTY } = await shell.json('sellers', 'create', `Shop-${SELLER}`);
  const { seller_id: OTHER } = await shell.json('sellers', 'create', `Kiosk-${SELLER}`);
  await shell.json('sellers', 'messages', SELLER, '--template', 'kavenegar=kaveh-books');
  const TODAY = new Date().toISOString().slice(0, 10);
  const { phone: REGISTERED } = await newBuyer('byr_registered');
  const { phone: LINKED, hash } = await newBuyer('byr_linked');
  await linkBuyer(shell.table, SELLER, hash);
  const { id: USER } = await linkBuyer(shell.table, SELLER, 'hash of another phone');
  await linkBuyer(shell.table, SELLER, 'hash of a third phone');
  return { SELLER, ...keys, EMPTY, OTHER, TODAY, REGISTERED, LINKED, USER };
};

/** Everything that a command can change. */
const everything = async () => [await itemsIn(shell.table), await apiGateway.keys()];

/** Commands, what each asks, and what each shows when it has done it. They are run one after another in one scene. */
const COMMANDS: readonly (readonly [command: string, question: string, shown: string])[] = [
  [
    'sellers create shop-SELLER',
    'The name shop-SELLER is that of EMPTY. Use it for another seller too?',
    'shop-SELLER',
  ],
  ['sellers delete EMPTY', 'Delete EMPTY (Shop-SELLER) for good?', 'Deleted EMPTY.'],
  [
    'sellers messages SELLER --remove kavenegar',
    'Send the codes of SELLER (Kaveh Books) in fa without its own template of kavenegar?',
    'No templates of its own.',
  ],
  [
    'keys rotate KEY --grace 0',
    'Rotate KEY (server) without a grace period? Its 2 valid secrets become invalid at once.',
    'blk_test_',
  ],
  [
    'keys limits BUSY --set sms-per-hour=0',
    'Take from BUSY (busy), which was last used on TODAY: sms-per-hour 2,000 → 0 (it used 1)?',
    'sms-per-hour',
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
    'keys expire BUSY --at 2099-01-31',
    'Take from BUSY (busy), which was last used on TODAY: the time after 2099-01-31T00:00:00.000Z?',
    '2099-01-31 00:00',
  ],
  ['keys revoke KEY', 'Revoke KEY (server) for good? Every request with it will be refused.', 'revoked'],
  [
    'buyers remove REGISTERED',
    'Remove the registration? No seller can link this phone until it is registered again.',
    'Removed byr_registered.',
  ],
  [
    'buyers erase LINKED',
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
  [
    'sellers suspend SELLER',
    'Suspend SELLER (Kaveh Books)? Every request with its keys will be refused.',
    'suspended',
  ],
  [
    'sellers rename SELLER kiosk-SELLER',
    'The name kiosk-SELLER is that of OTHER. Use it for another seller too?',
    'kiosk-SELLER',
  ],
];

describe('in one scene', () => {
  let scene: Awaited<ReturnType<typeof newScene>>;
  beforeAll(async () => {
    scene = await newScene();
  });

  itForAll(COMMANDS)(
    'each command is done after a yes; without it, or a terminal to ask on, nothing changes',
    async (...texts: readonly string[]) => {
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
});

it('a change says what it takes and when, and asks nobody about a key without a request or one that loses nothing', async () => {
  const { KEY, BUSY } = await newKeys();
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
  const { BUSY } = await newKeys();
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
