import * as v from 'valibot';
import { problemsOf, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { expectProblem } from '#test/scenarios/call.ts';
import type { ProblemBody } from '#test/scenarios/target.ts';
import { type AttackOptions, attackBy, keyFor, MARKER, named } from './attack.ts';
import { validBody } from './valid-request.ts';

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

/** Hostile values in each field of an otherwise valid body, additional fields, and bodies over 16 KB. */
export const bodyAttacks = (options: AttackOptions): void => {
  const { target } = options;
  const attack = attackBy(options);
  const rows = allRoutes.filter((route) => route.body !== undefined);
  const fields = rows.flatMap((route) =>
    Object.entries(route.body?.entries ?? {}).map(([field, schema]) => ({ route, field, schema })),
  );
  const hostileFields = fields.flatMap(({ route, field, schema }) =>
    NEVER_VALID
      // A field that may be null is cleared by it.
      .filter(([, value]) => value !== null || !v.safeParse(schema as v.GenericSchema, null).success)
      .map(([what, value]) => [`${route.name} ${field} ${what}`, route, field, value] as const),
  );
  const hostileTexts = fields.flatMap(({ route, field }) =>
    HOSTILE_TEXT.map((value) => [`${route.name} ${field} ${value}`, route, field, value] as const),
  );

  describe('a hostile field in an otherwise valid body', () => {
    const attackField = (route: Route, field: string, value: unknown) =>
      attack(route, { key: keyFor(route, target()), body: { ...validBody(route), [field]: value } });

    itForAll(hostileFields)(
      'returns 422 for this field alone, and echoes nothing',
      async (_title, route, field, value) => {
        const reply = await attackField(route, field, value);
        const { errors = [] } = expectProblem(reply, 'validation_failed');
        expect(errors.map(({ pointer }) => pointer)).toEqual([`#/${field}`]);
        expect(reply.text).not.toContain(MARKER);
      },
    );

    itForAll(hostileTexts)(
      'returns a declared problem for text that is dangerous to an interpreter, and echoes nothing',
      async (_title, route, field, value) => {
        const reply = await attackField(route, field, value);
        const { code } = reply.json<ProblemBody>();
        expect(problemsOf(route).filter((declared) => declared !== 'internal')).toContain(code);
        expectProblem(reply, code);
        expect(reply.text).not.toContain(MARKER);
      },
    );
  });

  describe('an operation with a body', () => {
    const each = named(rows);
    const keyOf = (route: Route) => keyFor(route, target());

    itForAll(each)('reaches its own rules with the valid body of these attacks', async (_name, route) => {
      const reply = await attack(route, { key: keyOf(route) });
      const outcome = reply.status < 300 ? reply.status : reply.json<ProblemBody>().code;
      const own = [
        ...Object.keys(route.responses).map(Number),
        ...route.problems,
        ...(route.pathParameters === undefined ? [] : [route.pathParameters.problem]),
      ];
      expect(own).toContain(outcome);
    });

    itForAll(each)(
      'returns 400 to a valid body with a field that would change a prototype',
      async (_name, route) => {
        for (const field of ['"__proto__":{"isAdmin":true}', '"constructor":{"prototype":{}}']) {
          const text = JSON.stringify(validBody(route)).replace('{', `{${field},`);
          expectProblem(await attack(route, { key: keyOf(route), text }), 'malformed_json');
        }
      },
    );

    itForAll(each)(
      'returns 422 to additional fields, inherited names included, and names each',
      async (_name, route) => {
        const additional = `"seller_id":"${MARKER}","constructor":{"isAdmin":true},"toString":"${MARKER}"`;
        const text = JSON.stringify(validBody(route)).replace('{', `{${additional},`);
        const reply = await attack(route, { key: keyOf(route), text });
        const { errors = [] } = expectProblem(reply, 'validation_failed');
        const pointers = errors.map(({ pointer }) => pointer).sort();
        expect(pointers).toEqual(['#/constructor', '#/seller_id', '#/toString']);
        expect(reply.text).not.toContain(MARKER);
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
        ])
          expectProblem(await attack(route, { key: keyOf(route), text }), 'body_too_large');
      },
    );
  });
};
