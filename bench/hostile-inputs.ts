/**
 * `npm run bench:hostile-inputs`: the CPU time that one hostile request costs each function before it is rejected, in milliseconds.
 * Exits 1 if one costs more than 50 ms.
 */
import type { Context } from 'aws-lambda';
import { endpoint } from '#shared/http/endpoint.ts';
import { MAX_BODY_BYTES } from '#shared/http/json-body.ts';
import { redirectLog } from '#shared/log.ts';
import type { LimitState } from '#shared/rate-limits/limits.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { eventOf } from './harness/operations.ts';
import { median, ratio, report } from './harness/report.ts';

const LIMIT_MS = 50;
const ROUNDS = 20;
const SENDER = { sellerId: 'sel_bench' };

const fill = (unit: string, bytes: number): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));

/** A body that puts `text` into every field of a row. */
const inEveryField = (route: Route, text: string): string =>
  JSON.stringify(Object.fromEntries(Object.keys(route.body?.entries ?? {}).map((field) => [field, text])));

const fieldBytes = (route: Route): number =>
  Math.floor((MAX_BODY_BYTES - 200) / Math.max(1, Object.keys(route.body?.entries ?? {}).length));

/** Hostile bodies of a row: the largest that are parsed, and larger ones. */
const bodiesOf = (route: Route): Readonly<Record<string, string>> => ({
  'combining marks': inEveryField(route, fill('\u0301', fieldBytes(route))),
  'decomposed Hangul': inEveryField(route, fill('\u1112\u1161\u11ab', fieldBytes(route))),
  'digits of three scripts': inEveryField(route, fill('4۴٤', fieldBytes(route))),
  'spaces and hyphens': inEveryField(route, `+98${fill(' -', fieldBytes(route) - 3)}`),
  'invisible characters': inEveryField(route, fill('\u200b', fieldBytes(route))),
  'nested arrays': fill('[', MAX_BODY_BYTES),
  'many unknown fields': `{${Array.from({ length: 1_700 }, (_, index) => `"${index}":0`).join(',')}}`,
  '300 KB of combining marks': inEveryField(route, fill('\u0301', 300_000)),
  '5 MB of nested arrays': fill('[', 5_000_000),
});

/** The event of a hostile body. Only the body is hostile, so it replaces that of a valid event. */
const hostileEvent = (route: Route, body: string) => ({ ...eventOf(route.method, route.path, SENDER), body });

const context = { getRemainingTimeInMillis: () => 15_000 } as unknown as Context;
const deps = {
  clock: () => Date.now(),
  rateLimiter: {
    incrementAndRead: async (): Promise<[LimitState]> => [{ allowed: true, remaining: 1, resetSeconds: 1 }],
  },
};

const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

redirectLog(() => {});
let worst = 0;
const rows: string[][] = [];
for (const route of allRoutes.filter(({ body }) => body !== undefined)) {
  const handler = endpoint(
    route,
    async () => {
      throw new Error('the input was accepted');
    },
    () => deps,
  );
  for (const [name, body] of Object.entries(bodiesOf(route))) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      times.push(await cpuMs(() => handler(hostileEvent(route, body), context)));
    }
    const measured = times.slice(1);
    worst = Math.max(worst, median(measured));
    rows.push([
      `${route.name}: ${name}`,
      median(measured).toFixed(1),
      Math.max(...measured).toFixed(1),
      ratio(median(measured), LIMIT_MS),
    ]);
  }
}
report('hostile-inputs', `CPU milliseconds until a hostile body is rejected; the limit is ${LIMIT_MS} ms.`, [
  ['function: input', 'median', 'worst', '× limit'],
  ...rows,
]);
process.exitCode = worst <= LIMIT_MS ? 0 : 1;
