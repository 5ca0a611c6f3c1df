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
  const event = {
    httpMethod: 'POST',
    path: '/v1/auth/otp/verify',
    headers: { 'content-type': 'application/json' },
    multiValueQueryStringParameters: null,
    pathParameters: null,
    isBase64Encoded: false,
    body: JSON.stringify({ phone, code }),
    requestContext: {
      requestId: 'bench',
      // A new key for every 50 calls stays within its limit of failed verifications.
      authorizer: {
        sellerId: 'sel_bench',
        keyId: `key_${Math.floor(calls / 50)}`,
        plan: 'free',
        scopes: '',
        expiresAt: '',
      },
    },
  };
  const startedAt = performance.now();
  await handler(event as never, context);
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

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
const wrongMedian = quantile(times.get('wrong') ?? [], 0.5);
console.log('code         median ms   p90 ms   median / wrong');
for (const [reason, values] of times) {
  const [median, p90] = [quantile(values, 0.5), quantile(values, 0.9)];
  const ratio = (median / wrongMedian).toFixed(2);
  console.log(
    `${reason.padEnd(12)} ${median.toFixed(2).padStart(9)} ${p90.toFixed(2).padStart(8)} ${ratio.padStart(16)}`,
  );
}
table.client.destroy();
await database.stop();
