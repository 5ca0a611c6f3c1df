import { rm, watch, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { newPhone } from '#test/generated-people.ts';
import { call, type Reply } from '#test/scenarios/call.ts';
import { localTarget } from '#test/service/local-target.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';
import { startCommand } from './cli-process.ts';

/**
 * An admin's session: commands in processes of their own and requests over HTTP, against the service of `npm start`. Each test starts
 * with the state that the test before it left.
 */
let simulators: Simulators;
let service: RunningService;
let sellerId: string;
let keyId: string;
let firstSecret: string;
let secondSecret: string;

beforeAll(async () => {
  simulators = await startSimulators();
  service = await startRunningService({ simulators });
});
afterAll(async () => {
  await service.stop();
  await simulators.close();
  await removeDataFolder(service.folder);
});

// biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
const admin = async (...args: string[]): Promise<any> => {
  const ended = await startCommand(['--data', service.folder, '--json', ...args]).ended;
  expect(ended).toMatchObject({ exitCode: 0, error: '' });
  return JSON.parse(ended.out);
};

const list = (secret: string): Promise<Reply> =>
  call(localTarget(service.demo), '/v1/users', { key: secret });

const statusOf = async (secret: string): Promise<number> => (await list(secret)).status;

const remainingOf = ({ headers }: Reply): number =>
  Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

/** Concurrent requests. More of them would slow a busy machine until the service stops waiting for its rate limiter. */
const AT_ONCE = 10;

const minuteNow = (): number => Math.floor(Date.now() / 60_000);

/** Runs requests that must be counted in one clock minute; again, if the minute ended while they ran. */
const inOneMinute = async <T>(run: (attempt: number) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    const minute = minuteNow();
    const result = await run(attempt);
    if (minuteNow() === minute) return result;
  }
};

/** The audit records of the moves between the plans. */
let moves: readonly string[] = [];

it('creates a seller and issues a key that is valid at once', async () => {
  ({ seller_id: sellerId } = await admin('sellers', 'create', 'Kaveh Books'));
  const issued = await admin(
    'keys',
    'issue',
    sellerId,
    '--plan',
    'free',
    '--scopes',
    'users:read',
    '--name',
    'server',
  );
  ({ key_id: keyId, key: firstSecret } = issued);
  expect(await statusOf(firstSecret)).toBe(200);
});

it('refuses a free key after 100 requests in a minute, until it is assigned to the professional plan and a flush', async () => {
  const { refused, next } = await inOneMinute(async (attempt) => {
    await admin('keys', 'assign', keyId, '--plan', 'free');
    const left = remainingOf(await list(firstSecret));
    for (let begun = 0; begun < left; begun += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, left - begun) }, () => list(firstSecret)));
    }
    const refused = await statusOf(firstSecret);
    await admin('keys', 'assign', keyId, '--plan', 'professional');
    // A smaller limit flushes the decision on the key, which would otherwise be that of the free plan for five minutes.
    await admin('keys', 'limits', keyId, '--set', `failed-verifies-per-hour=${100 - attempt}`);
    // The key was issued with the free plan, so the first attempt moves it once, and every other one twice.
    moves = [...moves, ...(attempt === 1 ? [] : ['key.assigned']), 'key.assigned', 'key.limits_set'];
    return { refused, next: await list(firstSecret) };
  });
  expect(refused).toBe(429);
  expect(next.status).toBe(200);
  expect(remainingOf(next)).toBe(PLANS.professional.requestsPerMinute - PLANS.free.requestsPerMinute - 1);
});

it('rotates with a grace period: both secrets are valid and share one limit', async () => {
  ({ key: secondSecret } = await admin('keys', 'rotate', keyId, '--grace', '1h'));
  const [older, newer, again] = await inOneMinute(async () => [
    await list(firstSecret),
    await list(secondSecret),
    await list(firstSecret),
  ]);
  expect([older?.status, newer?.status, again?.status]).toEqual([200, 200, 200]);
  const remaining = remainingOf(older as Reply);
  expect(remainingOf(newer as Reply)).toBe(remaining - 1);
  expect(remainingOf(again as Reply)).toBe(remaining - 2);
});

it('shows and sets the limits of a key', async () => {
  const { limits } = await admin('keys', 'limits', keyId, '--set', 'sms-per-hour=10000');
  expect(limits).toContainEqual(
    expect.objectContaining({ name: 'sms-per-hour', limit: 10_000, overridden: true }),
  );
  expect(await statusOf(secondSecret)).toBe(200);
});

it("sends the next code with the seller's own template, and with the stage's once it is removed", async () => {
  const target = localTarget(service.demo);
  const sentTo = async (phone: string, locale = 'fa') => {
    const sent = await call(target, '/v1/auth/otp/send', { key: secondSecret, body: { phone, locale } });
    return [sent.status, simulators.messages(phone)[0]?.text?.split('\n').at(-1)?.split(' ')[0]];
  };
  await admin('sellers', 'messages', sellerId, '--template', 'kavenegar=kaveh-books');
  expect(await sentTo(newPhone())).toEqual([202, '@kaveh.example']);
  expect(await sentTo(newPhone(), 'en')).toEqual([202, '@buyer-app.example']);
  await admin('sellers', 'messages', sellerId, '--remove', 'kavenegar', '--yes');
  expect(await sentTo(newPhone())).toEqual([202, '@buyer-app.example']);
});

it('takes a scope from a key at once', async () => {
  await admin('keys', 'scopes', keyId, '--set', 'users:write');
  expect(await statusOf(secondSecret)).toBe(403);
  // The suspension below flushes the decision on the key, which would otherwise lack the scope for five minutes.
  await admin('keys', 'scopes', keyId, '--set', 'users:read,users:write');
});

it('suspends a seller, which refuses all its keys at once, and resumes it', async () => {
  const other = await admin('keys', 'issue', sellerId, '--plan', 'free', '--scopes', 'users:read');
  expect(await statusOf(other.key)).toBe(200);
  await admin('sellers', 'suspend', sellerId, '--yes');
  expect([await statusOf(firstSecret), await statusOf(secondSecret), await statusOf(other.key)]).toEqual([
    401, 401, 401,
  ]);
  await admin('sellers', 'resume', sellerId);
  expect([await statusOf(firstSecret), await statusOf(secondSecret), await statusOf(other.key)]).toEqual([
    200, 200, 200,
  ]);
});

it('shows how much a key was used', async () => {
  const usage = await admin('usage', keyId, '--days', '2');
  expect(usage.days.at(-1).requests).toBeGreaterThan(PLANS.free.requestsPerMinute);
  expect(await admin('keys', 'show', keyId)).toMatchObject({
    last_used_on: new Date().toISOString().slice(0, 10),
  });
});

it('revokes a key: its two secrets get 401 at once', async () => {
  expect([await statusOf(firstSecret), await statusOf(secondSecret)]).toEqual([200, 200]);
  await admin('keys', 'revoke', keyId, '--yes');
  expect([await statusOf(firstSecret), await statusOf(secondSecret)]).toEqual([401, 401]);
});

/** Resolves when a file of this name appears in the folder. */
const fileAppears = async (path: string): Promise<void> => {
  for await (const { filename } of watch(service.folder)) if (filename === basename(path)) return;
};

it('imports 8,000 buyers in two runs, the first of which is interrupted', async () => {
  const count = 8000;
  const file = join(service.folder, 'phones.txt');
  const phones = Array.from({ length: count }, (_, index) => `09${String(index).padStart(9, '0')}`);
  await writeFile(file, `nobody\n${phones.join('\n')}\n`);
  const importFile = () => startCommand(['--data', service.folder, 'buyers', 'import', file, '--json']);

  // The first batch is written as soon as the file of rejected lines appears.
  const isStarted = fileAppears(`${file}.rejected.csv`);
  const first = importFile();
  await isStarted;
  first.child.kill('SIGINT');
  expect(await first.ended).toMatchObject({
    exitCode: 130,
    error: expect.stringContaining('Run the command again'),
  });

  const second = await importFile().ended;
  expect(second.exitCode).toBe(0);
  const result = JSON.parse(second.out);
  expect(result).toMatchObject({ lines: count + 1, rejected: 1, blank: 0 });
  expect(result.added + result.already_registered).toBe(count);
  expect(result.already_registered).toBeGreaterThan(0);
  expect(result.added).toBeGreaterThan(0);
  await rm(file);
  expect(await admin('buyers', 'show', phones.at(-1) ?? '')).toMatchObject({
    buyer_id: expect.stringMatching(/^byr_/),
  });
});

it('erases a buyer whose phone is read from stdin', async () => {
  const command = ['--data', service.folder, '--json', 'buyers', 'erase', '-', '--yes'];
  const erased = await startCommand(command, {}, '09000000001\n').ended;
  expect(erased).toMatchObject({ exitCode: 0, error: '' });
  expect(JSON.parse(erased.out)).toEqual({ sellers: 0, users: 0, codes: 0, registrations: 1 });
});

it('changes nothing if stdin ends before the phone', async () => {
  const ended = await startCommand(['--data', service.folder, 'buyers', 'erase', '-', '--yes']).ended;
  expect(ended).toEqual({
    exitCode: 1,
    out: '',
    error: 'error: Stdin has no more lines. Nothing was changed.\n',
  });
});

it('leaves no difference, and an audit record of every change', async () => {
  expect(await admin('reconcile')).toMatchObject({ differences: [] });
  const { records } = await admin('audit', sellerId);
  expect(records.map(({ action }: { action: string }) => action).reverse()).toEqual([
    'seller.created',
    'key.issued',
    ...moves,
    'key.rotated',
    'key.limits_set',
    'seller.templates_set',
    'seller.templates_set',
    'key.scopes_set',
    'key.scopes_set',
    'key.issued',
    'seller.suspended',
    'seller.resumed',
    'key.revoked',
  ]);
  expect(JSON.stringify(records)).not.toMatch(/blk_test_[0-9A-Za-z]{38}/);
});
