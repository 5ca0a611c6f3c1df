/**
 * `npm run bench:hostile-inputs`: the CPU time that one hostile request costs each function before it is rejected, in milliseconds.
 * Exits 1 if one costs more than 50 ms.
 */
import type { Context } from 'aws-lambda';
import { endpoint } from '#shared/http/endpoint.ts';
import { MAX_BODY_BYTES } from '#shared/http/json-body.ts';
import { redirectLog } from '#shared/log.ts';
import type { LimitState } from '#shared/rate-limits/rate-limiter.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

const LIMIT_MS = 50;
const ROUNDS = 20;

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

const eventOf = (route: Route, body: string) => ({
  httpMethod: route.method,
  path: route.path,
  headers: { 'content-type': 'application/json' },
  pathParameters: null,
  multiValueQueryStringParameters: null,
  body,
  isBase64Encoded: false,
  requestContext: {
    requestId: 'bench',
    authorizer: {
      sellerId: 'sel_bench',
      keyId: 'key_bench',
      plan: 'free',
      scopes: 'users:write',
      expiresAt: '',
    },
  },
});

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
console.log('route        hostile input                 median ms   worst ms');
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
      times.push(await cpuMs(() => handler(eventOf(route, body) as never, context)));
    }
    const sorted = times.slice(1).sort((a, b) => a - b);
    const [median = 0, most = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    worst = Math.max(worst, median);
    console.log(
      `${route.name.padEnd(12)} ${name.padEnd(28)} ${median.toFixed(1).padStart(9)} ${most.toFixed(1).padStart(10)}`,
    );
  }
}
console.log(`\nLargest median: ${worst.toFixed(1)} ms; limit ${LIMIT_MS} ms.`);
process.exitCode = worst <= LIMIT_MS ? 0 : 1;
