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
import { CONTEXT } from './harness/recording.ts';
import { figure, interleave, median, ratio, report } from './harness/report.ts';

const LIMIT_MS = 50;
const ROUNDS = 20;
/** The bytes of a body around its fields. */
const JSON_BYTES = 200;

/** Repeats `unit` up to a number of bytes. */
const fill = (unit: string, bytes: number): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));

/** Hostile bodies of a row with these fields: the largest that are parsed, and larger ones. */
const bodiesOf = (fields: readonly string[]): Readonly<Record<string, string>> => {
  const inEveryField = (text: string) =>
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, text])));
  const bytes = Math.floor((MAX_BODY_BYTES - JSON_BYTES) / fields.length);
  return {
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
    incrementAndRead: async (): Promise<[LimitState]> => [{ allowed: true, remaining: 1, resetSeconds: 1 }],
  },
};

const accepted = async (): Promise<never> => {
  throw new Error('the input was accepted');
};

/** Every hostile body of a row, with a function that sends it and returns the milliseconds of CPU time. */
const inputsOf = (route: Route) => {
  const handler = endpoint(route, accepted, () => deps);
  return Object.entries(bodiesOf(Object.keys(route.body?.entries ?? {}))).map(([name, body]) => ({
    title: `${route.name}: ${name}`,
    async send(): Promise<number> {
      // Only the body is hostile, so it replaces that of a valid event.
      const event = { ...eventOf(route.method, route.path, { sellerId: 'sel_bench' }), body };
      const before = process.cpuUsage();
      await handler(event, CONTEXT as Context);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    },
  }));
};

redirectLog(() => {});
const inputs = allRoutes.filter(({ body }) => body !== undefined).flatMap(inputsOf);
const times = await interleave(inputs, ROUNDS, ({ send }) => send());
// The first round compiles the code and is not counted.
const results = [...times].map(([{ title }, [, ...all]]) => ({
  title,
  typical: median(all),
  worst: Math.max(...all),
}));
report('hostile-inputs', `CPU milliseconds until a hostile body is rejected; the limit is ${LIMIT_MS} ms.`, [
  ['function: input', 'median', 'worst', '× limit'],
  ...results.map(({ title, typical, worst }) => [
    title,
    figure(typical, 1),
    figure(worst, 1),
    ratio(typical, LIMIT_MS),
  ]),
]);
process.exitCode = results.every(({ typical }) => typical <= LIMIT_MS) ? 0 : 1;
