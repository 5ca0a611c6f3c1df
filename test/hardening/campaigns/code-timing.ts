import type { Context } from 'aws-lambda';
import { interleave, median } from '#bench/harness.ts';
import { handle } from '#functions/verify-otp.ts';
import { redirectLog } from '#shared/log.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import { CODE_LIFETIME_SECONDS } from '#shared/one-time-codes/rules.ts';
import { codeSends, codeTries } from '#shared/one-time-codes/store.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { gatewayEvent } from '#test/lib/gateway-event.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';
import type { Campaign } from './campaign.ts';

/** Four rejected verifications each, which stays within the key's limit of 1,000 per hour. */
const ROUNDS = 200;
const QUICK_ROUNDS = 50;
/** The medians differ by 5 %, also on a busy machine. A call to the database more or fewer changes them by a quarter or more. */
const LARGEST_RATIO = 1.2;
const MEASUREMENTS = 3;
export const RIGHT = '493027';
const WRONG = '493028';
const REASONS = ['wrong', 'expired', 'used', 'never sent'] as const;
const AUDIENCE = 'sel_test';

type Reason = (typeof REASONS)[number];

/** The function on a table, and a store of codes. */
export const functionOn = (table: Table) => {
  const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));
  const codes = { ...codeSends(table), ...codeTries(table) };
  const deps = {
    codes,
    tableName: table.name,
    hashes,
    rateLimiter: limiterOn(table),
    signer: { sign: async () => 'token', publicKeys: async () => ({ keys: [] }) },
    tokenIssuer: 'http://localhost',
    inSandbox: false,
    clock: Date.now,
  };
  const route = oneTimeCodeRoutes['verify-otp'];
  const handler = keyedHandler(route, handle, deps);
  return {
    hashes,
    /** Returns the status and the milliseconds of a verification. */
    async verify(phone: string, code: string, scopes?: string) {
      const event = gatewayEvent(route, { body: { phone, code }, ...(scopes && { scopes }) });
      const context = { getRemainingTimeInMillis: () => 20_000 } as Context;
      const startedAt = performance.now();
      const { statusCode } = await handler(event, context);
      return { statusCode, ms: performance.now() - startedAt };
    },
    /** Stores a code that was sent `secondsAgo`. */
    async store(phone: string, secondsAgo: number): Promise<void> {
      const owner = { phoneHash: (await hashes.phone(phone)).current, audience: AUDIENCE };
      const mac = await hashes.codeMac({ phone, audience: AUDIENCE, code: RIGHT }, 'salt');
      const now = Math.floor(Date.now() / 1000) - secondsAgo;
      const { record } = await codes.read(owner, [], 0);
      await codes.recordSend(owner, record, { mac, provider: 'none', now });
    },
  };
};

/** Returns the medians by reason, as multiples of that of a wrong code, and the statuses. Takes the reasons in turns. */
const measure = async (rounds: number) => {
  const table = await startEmbeddedTable();
  const { verify, store } = functionOn(table);
  const statuses = new Set<number>();
  let phones = 0;
  const timeOf = async (reason: Reason): Promise<number> => {
    phones += 1;
    const phone = `+98955${String(phones).padStart(7, '0')}`;
    if (reason !== 'never sent') await store(phone, reason === 'expired' ? CODE_LIFETIME_SECONDS + 1 : 0);
    if (reason === 'used') await verify(phone, RIGHT);
    const { statusCode, ms } = await verify(phone, reason === 'wrong' ? WRONG : RIGHT);
    statuses.add(statusCode);
    return ms;
  };
  const times = await interleave(REASONS, rounds, timeOf);
  await table.stop();
  const wrong = median(times.get('wrong') ?? []);
  return { ratios: [...times].map(([reason, all]) => ({ reason, ratio: median(all) / wrong })), statuses };
};

const isAlike = ({ ratio }: { readonly ratio: number }): boolean =>
  ratio < LARGEST_RATIO && ratio > 1 / LARGEST_RATIO;

/** The time of a rejected verification does not tell the reason: the medians of each reason and of a wrong code are alike. */
export const codeTiming: Campaign = {
  name: 'code-timing',
  async run({ report, scale }) {
    const restoreLog = redirectLog(() => {});
    const rounds = scale < 1 ? QUICK_ROUNDS : ROUNDS;
    let measured = await measure(rounds);
    // A difference in the code shows in every measurement, that of a busy machine does not.
    for (let again = 1; again < MEASUREMENTS && !measured.ratios.every(isAlike); again += 1) {
      measured = await measure(rounds);
    }
    restoreLog();
    for (const { reason, ratio } of measured.ratios) {
      report.expect(
        'code timing: the time of a rejected code does not tell the reason',
        isAlike({ ratio }),
        () => `${reason}: ${ratio.toFixed(2)} times a wrong code`,
      );
    }
    const { statuses } = measured;
    const isSame = statuses.size === 1 && statuses.has(PROBLEMS.code_rejected.status);
    report.expect('code timing: every reason has one status', isSame, () => [...statuses].join(', '));
  },
};
