import { request } from 'node:http';
import fc from 'fast-check';
import type * as v from 'valibot';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { exampleOf } from '#test/security/valid-request.ts';
import type { Random } from '../random.ts';
import type { Campaign } from './campaign.ts';

const TIME_BOUND_MS = 5_000;

const NASTY: readonly unknown[] = [
  '',
  ' ',
  '0',
  '-1',
  '1e400',
  'null',
  '\u0000',
  '\u202e',
  '\ud800',
  '۰۹۱۲۱۲۳۴۵۶۷',
  "' OR 1=1 --",
  '{"$gt":""}',
  '../../etc/passwd',
  '{{7*7}}',
  '<script>',
  '%00',
  'a'.repeat(5_000),
  '\u0301'.repeat(4_000),
  0,
  -1,
  1.5,
  true,
  null,
  [],
  {},
  [[[[[[]]]]]],
  { __proto__: null, constructor: { prototype: {} } },
];

const FIELDS = [
  'national_id',
  'birth_date',
  'phone',
  'display_name',
  'code',
  '__proto__',
  'toString',
  'page',
];

/** A value as text for a path or a query. */
const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 200);

const randomBody = (random: Random): string => {
  if (random.chance(0.3)) {
    const bytes = Array.from({ length: random.integer(400) }, () => random.integer(256));
    return Buffer.from(bytes).toString('latin1');
  }
  const body = Object.fromEntries(
    Array.from({ length: random.integer(6) }, () => [random.pick(FIELDS), random.pick(NASTY)]),
  );
  const text = JSON.stringify(body);
  return random.chance(0.2) ? text.slice(0, random.integer(text.length + 1)) : text;
};

/** Bodies by the row's schema: each field valid, nearly valid (an example with something inserted), any text or any JSON, or absent. */
const bodiesBySchema = (route: Route, seed: number, count: number): readonly string[] => {
  const fieldOf = (field: v.GenericSchema) => {
    const examples = fc.constant(exampleOf(field));
    const nearly = fc
      .tuple(examples, fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(20))
      .map(([example, text, at]) => `${String(example).slice(0, at)}${text}${String(example).slice(at)}`);
    return fc.oneof(examples, nearly, fc.string({ unit: 'binary' }), fc.jsonValue());
  };
  const fields = Object.entries(route.body?.entries ?? {}).map(([name, field]) => [name, fieldOf(field)]);
  const body = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  return fc.sample(
    body.map((value) => Buffer.from(JSON.stringify(value)).toString('latin1')),
    { seed, numRuns: count },
  );
};

const randomPath = (path: string, random: Random): string => {
  const filled = path.replace(/\{\w+\+?\}/g, () => encodeURIComponent(textOf(random.pick(NASTY)) || 'x'));
  if (random.chance(0.6)) return filled;
  const query = Array.from({ length: 1 + random.integer(3) }, () => {
    const name = random.pick(['page', 'page_size', 'phone', 'x', '__proto__']);
    return `${name}=${encodeURIComponent(textOf(random.pick(NASTY)))}`;
  });
  return `${filled}?${query.join('&')}`;
};

interface FuzzResponse {
  readonly status: number;
  readonly contentType: string;
  readonly ms: number;
}

/** Sends raw bytes, which fetch would refuse to. */
const send = (
  baseUrl: string,
  method: string,
  path: string,
  key: string,
  body: string,
): Promise<FuzzResponse | undefined> =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    const outgoing = request(`${baseUrl}${path}`, {
      method,
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body, 'latin1'),
      },
    });
    outgoing.on('response', (response) => {
      response.resume().on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: String(response.headers['content-type']),
          ms: performance.now() - startedAt,
        }),
      );
    });
    outgoing.on('error', () => resolve(undefined));
    outgoing.end(Buffer.from(body, 'latin1'));
  });

/** Input by the schema, nasty values and raw bytes for every operation: no 5xx, no undeclared response, each within a time bound. */
export const fuzz: Campaign = {
  name: 'fuzz',
  async run({ deployment, seed, random, report, used, scale }) {
    const tries = Math.ceil(scale * 250);
    for (const route of allRoutes) {
      const seller = await deployment.newSeller(`Fuzz ${route.name}`);
      used.keys.add(seller.key);
      const check = `fuzz ${route.method} ${route.path}`;
      const bodies = route.body ? bodiesBySchema(route, seed, tries) : [];
      for (let index = 0; index < tries; index += 1) {
        const path = randomPath(route.path, random);
        const bySchema = random.chance(0.5) ? bodies[index] : undefined;
        const body = bySchema ?? (route.body || random.chance(0.1) ? randomBody(random) : '');
        const reply = await send(deployment.baseUrl(), route.method, path, seller.key, body);
        const isDeclared =
          reply !== undefined &&
          (reply.status < 400 || reply.contentType === 'application/problem+json') &&
          reply.status < 500;
        report.expect(check, isDeclared, () => `${path.slice(0, 80)} returned ${reply?.status}`);
        report.expect(
          'fuzz: each response within 5 s',
          (reply?.ms ?? 0) < TIME_BOUND_MS,
          () => `${reply?.ms} ms`,
        );
      }
    }
  },
};
