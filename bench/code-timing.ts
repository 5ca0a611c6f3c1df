/**
 * `npm run bench:code-timing`: the time of a rejected verification, by the reason that the caller must not learn. Interleaved calls of
 * the real function on the embedded database; the ratios of the medians to that of a wrong code.
 */
import type { Context } from 'aws-lambda';
import { handle, type VerifyOtpDeps } from '#functions/verify-otp.ts';
import { startDatabase } from '#local/database.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import { CODE_LIFETIME_SECONDS } from '#shared/one-time-codes/rules.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { openTable } from '#shared/table/client.ts';
import { eventOf } from './harness/operations.ts';
import { median, quantile, ratio, report } from './harness/report.ts';

const ROUNDS = 300;
const ACCESS_KEY_ID = 'codetiming';
const RIGHT = '493027';
const WRONG = '493028';

setLocalCredentials(ACCESS_KEY_ID);
const database = await startDatabase({ accessKeyId: ACCESS_KEY_ID });
const table = openTable('bench', database.endpoint);
await ensureTable(table);
redirectLog(() => {});

const hashes = keyedHashesFrom({ read: async () => JSON.stringify({ current: 'k'.repeat(40) }) });
const codes = codeStore(table);
const limiter = rateLimiter(table);
const deps: VerifyOtpDeps = {
  codes,
  hashes,
  rateLimiter: limiter,
  buyers: buyerStore(table),
  signer: { sign: async () => 'token', publicKeys: async () => ({ keys: [] }) },
  tokenIssuer: 'http://localhost',
  clock: Date.now,
};
const handler = endpoint(oneTimeCodeRoutes['verify-otp'], handle, () => deps);
const context = { getRemainingTimeInMillis: () => 15_000 } as unknown as Context;

let calls = 0;
const verify = async (phone: string, code: string): Promise<number> => {
  calls += 1;
  // A new key for every 50 calls stays within its limit of failed verifications.
  const sender = { sellerId: 'sel_bench', keyId: `key_${Math.floor(calls / 50)}` };
  const event = eventOf('POST', '/v1/auth/otp/verify', sender, { phone, code });
  const startedAt = performance.now();
  await handler(event, context);
  return performance.now() - startedAt;
};

/** Stores a code that was sent `secondsAgo`. */
const store = async (phone: string, secondsAgo: number): Promise<void> => {
  const [phoneHash] = await hashes.phone(phone);
  const owner = { phoneHash, audience: 'sel_bench' };
  const mac = await hashes.codeMac({ phone, audience: 'sel_bench', code: RIGHT, salt: 'salt' });
  const now = Math.floor(Date.now() / 1000) - secondsAgo;
  await codes.recordSend(owner, await codes.read(owner, false), { mac, provider: 'none', now });
};

const REASONS = ['wrong', 'expired', 'used', 'never sent'] as const;
const times = new Map<string, number[]>(REASONS.map((reason) => [reason, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, reason] of REASONS.entries()) {
    const phone = `+98955${String(round * REASONS.length + index).padStart(7, '0')}`;
    if (reason !== 'never sent') await store(phone, reason === 'expired' ? CODE_LIFETIME_SECONDS + 1 : 0);
    if (reason === 'used') await verify(phone, RIGHT);
    times.get(reason)?.push(await verify(phone, reason === 'wrong' ? WRONG : RIGHT));
  }
}

const wrongMedian = median(times.get('wrong') ?? []);
report('code-timing', `Milliseconds of ${ROUNDS} rejected verifications each, in turns.`, [
  ['code', 'p50', 'p90', '× wrong'],
  ...[...times].map(([reason, all]) => [
    reason,
    median(all).toFixed(2),
    quantile(all, 0.9).toFixed(2),
    ratio(median(all), wrongMedian),
  ]),
]);
table.client.destroy();
await database.stop();
