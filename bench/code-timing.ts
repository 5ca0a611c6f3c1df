/**
 * `npm run bench:code-timing`: the time of a rejected verification, by the reason that the caller must not learn. Interleaved calls of
 * the real function on the embedded database; the ratios of the medians to that of a wrong code.
 */
import type { Context } from 'aws-lambda';
import { handle, type VerifyOtpDeps } from '#functions/verify-otp.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { redirectLog } from '#shared/log.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import { CODE_LIFETIME_SECONDS } from '#shared/one-time-codes/rules.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { HASH_SECRET, startBenchDatabase } from './harness/database.ts';
import { eventOf } from './harness/operations.ts';
import { CONTEXT } from './harness/recording.ts';
import { interleave, median, quantile, ratio, report } from './harness/report.ts';

const ROUNDS = 300;
const RIGHT = '493027';
const WRONG = '493028';
const REASONS = ['wrong', 'expired', 'used', 'never sent'] as const;

const { table, stop } = await startBenchDatabase();
redirectLog(() => {});
const hashes = keyedHashesFrom({ read: async () => HASH_SECRET });
const codes = codeStore(table);
const deps: VerifyOtpDeps = {
  codes,
  hashes,
  rateLimiter: rateLimiter(table),
  buyers: buyerStore(table),
  signer: { sign: async () => 'token', publicKeys: async () => ({ keys: [] }) },
  tokenIssuer: 'http://localhost',
  clock: Date.now,
};
const handler = endpoint(oneTimeCodeRoutes['verify-otp'], handle, () => deps);

let calls = 0;
const verify = async (phone: string, code: string): Promise<number> => {
  calls += 1;
  // A new key for every 50 calls stays within its limit of failed verifications.
  const sender = { sellerId: 'sel_bench', keyId: `key_${Math.floor(calls / 50)}` };
  const event = eventOf('POST', '/v1/auth/otp/verify', sender, { phone, code });
  const startedAt = performance.now();
  await handler(event, CONTEXT as Context);
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

let phones = 0;
const times = await interleave(REASONS, ROUNDS, async (reason) => {
  phones += 1;
  const phone = `+98955${String(phones).padStart(7, '0')}`;
  if (reason !== 'never sent') await store(phone, reason === 'expired' ? CODE_LIFETIME_SECONDS + 1 : 0);
  if (reason === 'used') await verify(phone, RIGHT);
  return verify(phone, reason === 'wrong' ? WRONG : RIGHT);
});

report('code-timing', `Milliseconds of ${ROUNDS} rejected verifications each, in turns.`, [
  ['code', 'p50', 'p90', '× wrong'],
  ...[...times].map(([reason, all]) => [
    reason,
    median(all).toFixed(2),
    quantile(all, 0.9).toFixed(2),
    ratio(median(all), median(times.get('wrong') ?? [])),
  ]),
]);
await stop();
