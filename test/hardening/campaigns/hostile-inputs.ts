import type { Context } from 'aws-lambda';
import { interleave, median } from '#bench/harness.ts';
import { MAX_BODY_BYTES } from '#shared/http/input.ts';
import { redirectLog } from '#shared/log.ts';
import type { LimitState } from '#shared/rate-limits/limit.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { gatewayEvent } from '#test/lib/gateway-event.ts';
import type { Campaign } from './campaign.ts';

const ROUNDS = 30;
const QUICK_ROUNDS = 15;
/** A body takes up to 4 times the CPU time of a harmless one. An algorithm that is quadratic in its 16 KB would take some hundred times. */
const LARGEST_RATIO = 30;
/** The bytes of a body around its fields. */
const JSON_BYTES = 200;
const HARMLESS = 'harmless letters';

/** Repeats `unit` up to a number of bytes. */
const fill = (unit: string, bytes: number): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));

/** A harmless body of a row with these fields, and hostile ones: the largest that are parsed, and larger ones. */
const bodiesOf = (fields: readonly string[]): Readonly<Record<string, string>> => {
  const inEveryField = (text: string) =>
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, text])));
  const bytes = Math.floor((MAX_BODY_BYTES - JSON_BYTES) / fields.length);
  return {
    [HARMLESS]: inEveryField(fill('a', bytes)),
    'combining marks': inEveryField(fill('\u0301', bytes)),
    'decomposed Hangul': inEveryField(fill('\u1112\u1161\u11ab', bytes)),
    'digits of three scripts': inEveryField(fill('4۴٤', bytes)),
    'spaces and hyphens': inEveryField(`+98${fill(' -', bytes - 3)}`),
    'invisible characters': inEveryField(fill('\u200b', bytes)),
    'nested arrays': fill('[', MAX_BODY_BYTES),
    'many unknown fields': `{${Array.from({ length: 1_700 }, (_, index) => `"${index}":0`).join(',')}}`,
    '300 KB of combining marks': inEveryField(fill('\u0301', 300_000)),
    '5 MB of nested arrays': fill('[', 5_000_000),
  };
};

const deps = {
  clock: Date.now,
  rateLimiter: {
    incrementAndRead: async (): Promise<[LimitState]> => [
      { allowed: true, remaining: 1, resetSeconds: 1, endsAt: 1 },
    ],
  },
  verifyToken: async () => ({ phone: '+989990000042', authTime: 0 }),
};

const accepted = async (): Promise<never> => {
  throw new Error('the input was accepted');
};

interface Input {
  readonly name: string;
  /** Sends the body and returns the microseconds of CPU time. */
  send(): Promise<number>;
}

/** The bodies of a row, sent to its middleware stack. */
const inputsOf = (route: Route): Input[] => {
  const handler = keyedHandler(route, accepted, deps);
  return Object.entries(bodiesOf(Object.keys(route.body?.entries ?? {}))).map(([name, body]) => ({
    name,
    async send() {
      const event = { ...gatewayEvent(route, {}), body };
      const before = process.cpuUsage();
      const { statusCode } = await handler(event, { getRemainingTimeInMillis: () => 20_000 } as Context);
      const { user, system } = process.cpuUsage(before);
      if (statusCode < 400 || statusCode > 499) throw new Error(`${route.name}, ${name}: ${statusCode}`);
      return user + system;
    },
  }));
};

/** The CPU time of the rejection of a hostile body, compared with that of a harmless body of the same size: it does not grow by the square. */
export const hostileInputs: Campaign = {
  name: 'hostile-inputs',
  async run({ report, scale }) {
    const restoreLog = redirectLog(() => {});
    const rounds = scale < 1 ? QUICK_ROUNDS : ROUNDS;
    for (const route of allRoutes.filter(({ body }) => body !== undefined)) {
      const inputs = inputsOf(route);
      const times = await interleave(inputs, rounds, ({ send }) => send());
      // The first round compiles the code.
      const costs = new Map([...times].map(([{ name }, [, ...all]]) => [name, median(all)]));
      const harmless = costs.get(HARMLESS) ?? 0;
      for (const [name, cost] of costs) {
        report.expect(
          `hostile inputs: ${route.method} ${route.path} rejects each within ${LARGEST_RATIO} times the CPU time of a harmless body`,
          cost <= LARGEST_RATIO * harmless,
          () => `${name}: ${(cost / harmless).toFixed(1)} times`,
        );
      }
    }
    restoreLog();
  },
};
