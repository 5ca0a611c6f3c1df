/** Attacks on the body of every row, in its real middy stack. Each request has its line in the log, which holds nothing that was sent. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import * as v from 'valibot';
import { redirectLog } from '#shared/log.ts';
import type { LimitState } from '#shared/rate-limits/limit.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';
import { gatewayEvent } from '#test/lib/gateway-event.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';
import { MARKER, named } from '#test/security/attack.ts';
import { pathExamples, validBody } from '#test/security/valid-request.ts';

/** Values that no string field accepts. */
const NEVER_VALID: readonly (readonly [string, unknown])[] = [
  ['an operator object', { $gt: MARKER }],
  ['an array', [MARKER]],
  ['null', null],
  ['a boolean', true],
  ['an object with inherited names', { constructor: MARKER, toString: MARKER }],
  ['a null byte', `${MARKER}\u0000`],
  ['a lone surrogate', `${MARKER}\ud800`],
  ['a line break', `${MARKER}\r\nX-Injected: 1`],
  ['10,000 characters', MARKER.repeat(900)],
  ['spaces without end', `0${' -'.repeat(5000)}9`],
];

/** Values that are dangerous to an interpreter. A free text field may accept them; no other field does. */
const HOSTILE_TEXT: readonly string[] = [
  `' OR 1=1 -- ${MARKER}`,
  `{"$ne":"${MARKER}"}`,
  `<script>${MARKER}</script>`,
  `\${jndi:ldap://${MARKER}}`,
  `../../etc/${MARKER}`,
  `SELLER#${MARKER}`,
];

const allowed: LimitState = { allowed: true, remaining: 1, resetSeconds: 1, endsAt: 1 };
const deps = {
  clock: Date.now,
  rateLimiter: { incrementAndRead: async () => [allowed] as [LimitState] },
  verifyToken: async () => ({ phone: '+989990000042', authTime: 0 }),
};

let restoreLog: () => void;
const lines: string[] = [];
beforeAll(() => {
  restoreLog = redirectLog((line) => lines.push(line));
});
afterAll(() => restoreLog());

/** What the stack makes of a body. `accepted`: the parsed body, if it reached the handler. */
const attack = async (route: Route, sent: unknown) => {
  let accepted: unknown;
  const handle = async (request: { readonly body: unknown }): Promise<never> => {
    accepted = request.body;
    throw new Error('the end of this test');
  };
  const event = {
    ...gatewayEvent(route, { pathParameters: pathExamples(route) }),
    body: typeof sent === 'string' ? sent : JSON.stringify(sent),
  } as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 20_000 } as Context;
  const { statusCode, body } = await keyedHandler(route, handle as never, deps as never)(event, context);
  const logged = lines.splice(0);
  expect(logged).not.toEqual([]);
  expect(logged.join('\n')).not.toContain(MARKER);
  return { accepted, status: statusCode, text: body, problem: JSON.parse(body) as ProblemBody };
};

const rows = allRoutes.filter((route) => route.body !== undefined);
const fields = rows.flatMap((route) =>
  Object.entries(route.body?.entries ?? {}).map(([field, schema]) => ({ route, field, schema })),
);

describe('a hostile field in an otherwise valid body', () => {
  const hostile = fields.flatMap(({ route, field, schema }) =>
    NEVER_VALID
      // A field that may be null is cleared by it.
      .filter(([, value]) => value !== null || !v.safeParse(schema as v.GenericSchema, null).success)
      .map(([what, value]) => [`${route.name} ${field} ${what}`, route, field, value] as const),
  );
  const texts = fields.flatMap(({ route, field }) =>
    HOSTILE_TEXT.map((value) => [`${route.name} ${field} ${value}`, route, field, value] as const),
  );

  itForAll(hostile)(
    'returns 422 for this field alone, and echoes nothing',
    async (_title, route, field, value) => {
      const { status, text, problem } = await attack(route, { ...validBody(route), [field]: value });
      expect([status, problem.errors?.map(({ pointer }) => pointer)]).toEqual([422, [`#/${field}`]]);
      expect(text).not.toContain(MARKER);
    },
  );

  itForAll(texts)(
    'returns 422, or takes text that is dangerous to an interpreter as text, and echoes nothing',
    async (_title, route, field, value) => {
      const { accepted, text, problem } = await attack(route, { ...validBody(route), [field]: value });
      const sent = accepted === undefined ? undefined : { [field]: value };
      expect(accepted).toEqual(sent && expect.objectContaining(sent));
      expect(problem.code).toBe(accepted === undefined ? 'validation_failed' : 'internal');
      expect(text).not.toContain(MARKER);
    },
  );
});

describe('an operation with a body', () => {
  const each = named(rows);

  itForAll(each)('takes the valid body of these attacks', async (_name, route) => {
    expect((await attack(route, validBody(route))).accepted).toBeDefined();
  });

  itForAll(each)(
    'returns 400 to a valid body with a field that would change a prototype',
    async (_name, route) => {
      for (const field of ['"__proto__":{"isAdmin":true}', '"constructor":{"prototype":{}}']) {
        const text = JSON.stringify(validBody(route)).replace('{', `{${field},`);
        const { status, problem } = await attack(route, text);
        expect([status, problem.code]).toEqual([400, 'malformed_json']);
      }
    },
  );

  itForAll(each)(
    'returns 422 to additional fields, inherited names included, and names each',
    async (_name, route) => {
      const additional = `"seller_id":"${MARKER}","constructor":{"isAdmin":true},"toString":"${MARKER}"`;
      const sent = JSON.stringify(validBody(route)).replace('{', `{${additional},`);
      const { problem, text } = await attack(route, sent);
      const pointers = problem.errors?.map(({ pointer }) => pointer).sort();
      expect([problem.code, pointers]).toEqual([
        'validation_failed',
        ['#/constructor', '#/seller_id', '#/toString'],
      ]);
      expect(text).not.toContain(MARKER);
    },
  );

  itForAll(each)(
    'returns 413 to a body over 16 KB, of JSON or not, before it parses it',
    async (_name, route) => {
      const filled = (filler: string) =>
        JSON.stringify(validBody(route)).replace('{', `{"filler":"${filler}",`);
      for (const text of [
        filled('x'.repeat(16 * 1024)),
        '['.repeat(17 * 1024),
        filled('\u0301'.repeat(9000)),
      ]) {
        const { status, problem } = await attack(route, text);
        expect([status, problem.code]).toEqual([413, 'body_too_large']);
      }
    },
  );
});
