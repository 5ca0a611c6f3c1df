import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';
import { startCommand } from './cli-process.ts';

/**
 * What an admin does, as an admin does it: commands in processes of their own, requests over HTTP, against the service as `npm start`
 * runs it. Each test goes on where the one before it ended.
 */
let service: RunningService;
let sellerId: string;
let keyId: string;
let firstSecret: string;
let secondSecret: string;

beforeAll(async () => {
  service = await startRunningService({ args: ['--memory'] });
}, 30_000);
afterAll(async () => {
  await service.stop();
  await removeDataFolder(service.folder);
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back.
const admin = async (...args: string[]): Promise<any> => {
  const ended = await startCommand(['--data', service.folder, '--json', ...args]).ended;
  expect(ended).toMatchObject({ exitCode: 0, error: '' });
  return JSON.parse(ended.out);
};

const list = (secret: string): Promise<Response> =>
  fetch(`${service.demo.base_url}/v1/users`, { headers: { 'X-Api-Key': secret } });

const statusOf = async (secret: string): Promise<number> => (await list(secret)).status;

const remainingOf = ({ headers }: Response): number =>
  Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);

/** Waits until the running minute has this many seconds left: the limits are those of a clock minute. */
const roomInMinute = async (seconds: number): Promise<void> => {
  const left = 60 - new Date().getUTCSeconds();
  await sleep(left >= seconds ? 0 : (left + 0.1) * 1000);
};

const minuteNow = (): number => Math.floor(Date.now() / 60_000);

it('creates a seller and issues a free key that works the moment it is shown', async () => {
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

it('limits the key at 100, and lets the 101st pass in the same minute once it is professional', async () => {
  await roomInMinute(20);
  const minute = minuteNow();
  const left = remainingOf(await list(firstSecret));
  for (let count = 0; count < left; count += 1) expect(await statusOf(firstSecret)).toBe(200);
  expect(await statusOf(firstSecret)).toBe(429);

  await admin('keys', 'assign', keyId, '--plan', 'professional');
  const next = await list(firstSecret);
  expect(next.status).toBe(200);
  expect(remainingOf(next)).toBe(PLANS.professional.requestsPerMinute - PLANS.free.requestsPerMinute - 1);
  expect(minuteNow()).toBe(minute);
}, 60_000);

it('rotates with a grace: both secrets work and draw on one bucket', async () => {
  await roomInMinute(10);
  ({ key: secondSecret } = await admin('keys', 'rotate', keyId, '--grace', '1h'));
  const [older, newer, again] = [await list(firstSecret), await list(secondSecret), await list(firstSecret)];
  expect([older.status, newer.status, again.status]).toEqual([200, 200, 200]);
  expect([remainingOf(newer), remainingOf(again)]).toEqual([remainingOf(older) - 1, remainingOf(older) - 2]);
}, 30_000);

it('sets the scopes at once', async () => {
  await admin('keys', 'scopes', keyId, '--set', 'users:write');
  expect(await statusOf(secondSecret)).toBe(403);
  await admin('keys', 'scopes', keyId, '--set', 'users:read,users:write');
  expect(await statusOf(secondSecret)).toBe(200);
});

it('suspends a seller, which refuses all its secrets at once, and resumes it', async () => {
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

it('tells who used a key and how much', async () => {
  const usage = await admin('usage', keyId, '--days', '2');
  expect(usage.days.at(-1).requests).toBeGreaterThan(PLANS.free.requestsPerMinute);
  expect(await admin('keys', 'show', keyId)).toMatchObject({
    last_used_on: new Date().toISOString().slice(0, 10),
  });
});

it('revokes a key: 401 at once, for both its secrets', async () => {
  expect([await statusOf(firstSecret), await statusOf(secondSecret)]).toEqual([200, 200]);
  await admin('keys', 'revoke', keyId, '--yes');
  expect([await statusOf(firstSecret), await statusOf(secondSecret)]).toEqual([401, 401]);
});

it('imports 100,000 buyers, interrupted once, without losing or doubling one', async () => {
  const count = 100_000;
  const file = join(service.folder, 'buyers.csv');
  const phones = Array.from({ length: count }, (_, index) => `09${String(index).padStart(9, '0')}`);
  await writeFile(file, `phone\n${phones.join('\n')}\n`);

  const first = startCommand(['--data', service.folder, 'buyers', 'import', file]);
  while (!existsSync(`${file}.import.json`) && first.child.exitCode === null) await sleep(20);
  first.child.kill('SIGINT');
  expect(await first.ended).toMatchObject({
    exitCode: 1,
    error: expect.stringContaining('goes on from there'),
  });

  const second = await startCommand(['--data', service.folder, 'buyers', 'import', file, '--json']).ended;
  expect(second.exitCode).toBe(0);
  const result = JSON.parse(second.out);
  expect(result).toMatchObject({ lines: count + 1, added: count, already_registered: 0, rejected: 0 });
  expect(result.resumed_from_line).toBeGreaterThan(1);
  expect(existsSync(`${file}.import.json`)).toBe(false);

  const again = await startCommand(['--data', service.folder, 'buyers', 'import', file, '--json']).ended;
  expect(JSON.parse(again.out)).toMatchObject({ added: 0, already_registered: count });
  await rm(file);
  expect(await admin('buyers', 'show', phones.at(-1) ?? '')).toMatchObject({
    buyer_id: expect.stringMatching(/^byr_/),
  });
}, 120_000);

it('leaves nothing for reconcile to find, and a record of all that was done', async () => {
  expect(await admin('reconcile')).toMatchObject({ differences: [] });
  const { records } = await admin('audit', sellerId);
  expect(records.map(({ action }: { action: string }) => action).reverse()).toEqual([
    'seller.created',
    'key.issued',
    'key.assigned',
    'key.rotated',
    'key.scopes_set',
    'key.scopes_set',
    'key.issued',
    'seller.suspended',
    'seller.resumed',
    'key.revoked',
  ]);
  expect(JSON.stringify(records)).not.toMatch(/blk_test_[0-9A-Za-z]{38}/);
});
